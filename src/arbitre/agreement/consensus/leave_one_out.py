"""Compares each annotator, and systems, with the consensus of the other annotators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, Unpack, get_args

from arbitre.agreement.agree import AgreeKeywords, prepare, read_annotations
from arbitre.agreement.consensus.build import build_gold, by_document, check_options
from arbitre.agreement.consensus.vote import DEFAULT_STRATEGY, WEAK_MARGIN
from arbitre.errors import DataError, OptionError
from arbitre.inputs.annotation_files import AnnotationOptions
from arbitre.inputs.corpus_sources import listed
from arbitre.inputs.provenance import Provenance
from arbitre.language import counted
from arbitre.options import COMPARATOR, AutomaticStrategy, Reading, spelled_out
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from arbitre.agreement.agree import Annotators
    from arbitre.agreement.consensus.disagreement import Consensus
    from arbitre.comparator import Comparator
    from arbitre.corpus.evaluation import Evaluation
    from arbitre.inputs.corpus_sources import Documents, Paths
    from arbitre.options import AnnotationFormat
    from arbitre.schema import SchemaSource
    from arbitre.statistics.intervals import Interval
    from arbitre.values import Json

TITLE: Final = "Agreement with an unvalidated consensus"
SCORES: Final = ("f1q", "imq", "irq")
WARNING: Final = (
    "This is agreement, not performance: nobody has checked that the consensus is correct. A system that agrees more "
    "with it than the annotators do is not necessarily better than they are (Mathet and Widlöcher, 2016)."
)
TWO: Final = "With two annotators, each document of the other annotator takes the place of the consensus."


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """Agreement of annotators and systems with the consensus of the other annotators.

    Each evaluation compares documents with a consensus in place of gold. Its `f1q`, `imq` and `irq` are agreement with
    an unvalidated consensus, not performance.

    Attributes:
        annotators: By annotator, the comparison with the consensus of the others.
        systems: By system and then by the annotator who was left out, the comparison with the same consensuses, on the
            same documents.
        flagged: By annotator who was left out, the number of disagreements of the others that are ties or weak
            majorities.
        strategy: How the consensuses were built.
        notes: Caveats.
    """

    annotators: Mapping[str, Evaluation]
    systems: Mapping[str, Mapping[str, Evaluation]]
    flagged: Mapping[str, int]
    strategy: AutomaticStrategy
    notes: tuple[str, ...]

    def mean(self, score: str = "f1q", system: str | None = None) -> float | None:
        """Return the mean of a pooled score over the consensuses; None if it is undefined for one of them.

        Args:
            score: Name of the score.
            system: Name of the system; None for the annotators.
        """
        evaluations = self.annotators if system is None else self.systems[system]
        values = [getattr(evaluation.micro, score) for evaluation in evaluations.values()]
        return None if None in values else fmean(values)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON."""
        first = next(iter(self.annotators.values()))
        return {
            "title": TITLE,
            "warning": WARNING,
            "strategy": self.strategy,
            "annotators": {
                name: _plain(evaluation) | {"flagged": self.flagged[name]}
                for name, evaluation in self.annotators.items()
            },
            "systems": {
                system: {name: _plain(evaluation) for name, evaluation in evaluations.items()}
                for system, evaluations in self.systems.items()
            },
            "notes": list(self.notes),
            "signature": first.signature.to_dict(),
        }


@spelled_out(*COMPARATOR, Reading)
def leave_one_out(
    schema: SchemaSource | Comparator | None,
    annotators: Annotators,
    *,
    systems: Mapping[str, Paths | Documents] | None = None,
    strategy: AutomaticStrategy = DEFAULT_STRATEGY,
    weak_margin: float = WEAK_MARGIN,
    annotations: AnnotationFormat = "auto",
    layer: str | None = None,
    **options: Unpack[AgreeKeywords],
) -> LeaveOneOut:
    """Compare each annotator with the consensus of the others, as `arbitre leave-one-out` does.

    Args:
        schema: Schema of the documents, or a comparator; None for spans from annotation tools.
        annotators: Sources of the documents of each annotator: folders, files or globs, or the documents themselves, as
            for `arbitre.evaluate`. Documents are joined by id. Or a file of an annotation tool that names its
            annotators.
        systems: Sources of the predictions of systems, or the predictions themselves. They are compared with the same
            consensuses.
        strategy: How a consensus is built; see `consensus`.
        weak_margin: See `consensus`.
        annotations: Format of files of annotation tools; see `arbitre.entities.read`.
        layer: Layer of WebAnno TSV and XMI files; see `arbitre.entities.read`.
        **options: Options of the comparator, and for reading documents.

    Returns:
        The comparisons. Their scores are agreement with an unvalidated consensus, not performance.

    Raises:
        SchemaError: The schema is invalid.
        DataError: A document of an annotator cannot be read, an annotator has no documents or two documents with the
            same id, or the documents of an annotator have no other annotator.
        OptionError: An option is unknown or out of range, there are fewer than two annotators, or an annotator and a
            system have the same name.
    """
    given: dict[str, Any] = dict(options)
    files = AnnotationOptions(annotations=annotations, layer=layer)
    comparator, sources, reading = prepare(schema, annotators, files, given)
    if not isinstance(sources, Mapping):
        raise OptionError.of("`annotators` must be a mapping, or a file that names several annotators.")
    systems = {name: listed(name, each) for name, each in (systems or {}).items()}
    read = read_annotations(sources, reading.for_plan(comparator.plan), files, systems)
    found = agreement_with_others(
        comparator, read.documents, read.predictions, strategy=strategy, weak_margin=weak_margin
    )
    return replace(found, notes=(*read.notes, *found.notes))


def agreement_with_others(
    comparator: Comparator,
    annotations: Mapping[str, Mapping[str, Json]],
    predictions: Mapping[str, Iterable[tuple[str, Json]]] | None = None,
    *,
    strategy: AutomaticStrategy = DEFAULT_STRATEGY,
    weak_margin: float = WEAK_MARGIN,
) -> LeaveOneOut:
    """Compare documents in memory; see `leave_one_out`.

    Args:
        comparator: Comparator of the documents.
        annotations: Documents of each annotator, by id. An annotator may lack documents.
        predictions: Predictions of each system, with the ids of their documents. A document may have several; a
            document without any counts as an empty prediction.
        strategy: See `leave_one_out`.
        weak_margin: See `leave_one_out`.

    Raises:
        DataError: A value is not JSON, or the documents of an annotator have no other annotator.
        OptionError: An option is unknown or out of range, there are fewer than two annotators, or an annotator and a
            system have the same name.
    """
    check_options(strategy, weak_margin)
    if strategy not in get_args(AutomaticStrategy):
        raise OptionError.of(
            "Expected `strategy` to be minimum-risk, majority, unanimity or dawid-skene, got 'collegial'.",
            hint="A collegial consensus needs decisions by people.",
        )
    answers = {system: by_document(given) for system, given in (predictions or {}).items()}
    if len(annotations) < 2:  # noqa: PLR2004
        raise OptionError.of(f"Expected at least two annotators, got {len(annotations)}.")
    if shared := sorted(annotations.keys() & answers.keys()):
        raise OptionError.of(f"Expected annotators and systems to have different names, got {shared[0]!r} twice.")
    build = partial(build_gold, comparator, strategy=strategy, weak_margin=weak_margin)
    notes: list[str] = [TWO] if len(annotations) == 2 else []  # noqa: PLR2004
    own: dict[str, Evaluation] = {}
    systems: dict[str, dict[str, Evaluation]] = {system: {} for system in answers}
    flagged: dict[str, int] = {}
    for name, documents in annotations.items():
        others = {other: given for other, given in annotations.items() if other != name}
        shared = [key for key in documents if any(key in given for given in others.values())]
        gold, flagged[name] = _consensus_of(others, shared, build)
        if not gold:
            raise DataError.of(
                f"No document of {name!r} has a consensus of other annotators",
                hint="Give annotators the same documents, with the same ids.",
            )
        if skipped := len(shared) - len(gold):
            notes.append(f"{name}: the others have no consensus on {counted(skipped, 'document')}; not compared.")
        provenance = Provenance(tuple(others), f"unvalidated {strategy}" if len(others) > 1 else "unvalidated")
        sides = [(own, {key: [document] for key, document in documents.items()})]
        sides += [(systems[system], given) for system, given in answers.items()]
        for compared, given in sides:
            triples = [(key, value, answer) for key, value in gold.items() for answer in given.get(key, [ABSENT])]
            compared[name] = comparator.evaluate(triples, no_chance=True, provenance=provenance)
    for system, given in answers.items():
        needed = {key for evaluation in systems[system].values() for key in evaluation.document_table.ids}
        if missing := len(needed - given.keys()):
            notes.append(f"{system}: {counted(missing, 'document')} without a prediction; counted as empty.")
    few = (note for evaluation in own.values() for note in _interval(evaluation).notes)
    return LeaveOneOut(own, systems, flagged, strategy, tuple(dict.fromkeys((*notes, *few))))


def _consensus_of(
    others: Mapping[str, Mapping[str, Json]],
    keys: Iterable[str],
    build: Callable[[Mapping[str, Mapping[str, Json]]], Consensus],
) -> tuple[dict[str, Json], int]:
    """Return the consensus of annotators on some documents, and the number of its flagged disagreements.

    If a document has only one annotator, it takes the place of the consensus.
    """
    by_document = {key: {name: given[key] for name, given in others.items() if key in given} for key in keys}
    gold = {key: next(iter(given.values())) for key, given in by_document.items() if len(given) == 1}
    several: dict[str, dict[str, Json]] = {}
    for key, given in by_document.items():
        for name, document in given.items():
            if key not in gold:
                several.setdefault(name, {})[key] = document
    if not several:
        return gold, 0
    consensus = build(several)
    gold |= consensus.documents
    flagged = sum(disagreement.flagged for disagreement in consensus.disagreements)
    return {key: gold[key] for key in by_document if key in gold}, flagged


def _plain(evaluation: Evaluation) -> dict[str, Any]:
    """Return the agreement as JSON, with the interval of the pooled f1q."""
    interval = _interval(evaluation)
    return {
        **{score: getattr(evaluation.micro, score) for score in SCORES},
        "interval": {"low": interval.low, "high": interval.high, "level": interval.level, "method": interval.method},
        "documents": len(evaluation.documents),
        "failed": evaluation.macro.failed,
        "consensus_of": list(evaluation.provenance.known[0][1].annotators),
    }


def _interval(evaluation: Evaluation) -> Interval:
    """Return the interval of the pooled f1q."""
    return evaluation.interval("f1q", aggregate="micro")
