"""Suggests aliases from the documents of a corpus."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from arbitre.diagnosis import renamed_fields
from arbitre.diagnosis.renamed_fields.suggest import MAX_PAIRS
from arbitre.errors import DataError
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.corpus.joining.join import Join
    from arbitre.corpus.reading.records import Pair
    from arbitre.diagnosis.renamed_fields import AliasSuggestions
    from arbitre.schema.plan import Plan


def suggest_aliases(plan: Plan, pairs: Join | Sequence[Pair]) -> AliasSuggestions:
    """Suggest aliases from pairs of documents; see `arbitre.Comparator.suggest_aliases`.

    If there are more than `MAX_PAIRS` pairs, only every n-th pair is read. Pairs that cannot be compared are left out.
    """
    step = -(-len(pairs) // MAX_PAIRS) or 1
    read = [(pair.id, pair.gold, pair.predicted) for pair in islice(pairs, 0, None, step) if _comparable(plan, pair)]
    return renamed_fields.suggest_aliases(plan, read)


def _comparable(plan: Plan, pair: Pair) -> bool:
    if ABSENT in (pair.gold, pair.predicted):
        return False
    try:
        plan.check_pair(pair.gold, pair.predicted)
    except DataError:
        return False
    return True
