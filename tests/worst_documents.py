"""Keep the documents that the command keeps for its report, for tests of the report."""

from __future__ import annotations

from arbitre.corpus.evaluate import ExecutionOptions, evaluate
from arbitre.inputs.join import JoinedCorpus
from arbitre.inputs.records import Failure, Pair
from arbitre.report.worst_documents import WorstDocuments
from arbitre.values import ABSENT


def keeping(plan, pairs, batches=None, **options):
    """What is kept, and the evaluation; `pairs` are a join, or (id, gold, predicted) with no id twice."""
    pairs = pairs if isinstance(pairs, JoinedCorpus) else [_pair(*one) for one in pairs]
    kept = WorstDocuments(plan, **options)
    evaluation = evaluate(plan, pairs, ExecutionOptions(kept.observers, kept.take, **batches or {}))
    kept.fill(evaluation, pairs if isinstance(pairs, JoinedCorpus) else JoinedCorpus(tuple(pairs)))
    return kept, evaluation


def _pair(name, gold, predicted):
    failure = Failure("predicted", name, reason="no prediction") if predicted is ABSENT else None
    return Pair(name, None, gold, predicted, failure)
