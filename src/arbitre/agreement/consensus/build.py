"""Builds gold documents from the documents of several annotators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack, get_args

from arbitre.agreement.agree import AgreeKeywords, read_annotations
from arbitre.agreement.consensus.assemble import Assembly
from arbitre.agreement.consensus.dawid_skene import Estimates, estimate
from arbitre.agreement.consensus.disagreement import Consensus, SystemScores
from arbitre.agreement.consensus.notes import notes_of
from arbitre.agreement.consensus.places import find_places
from arbitre.agreement.consensus.systems import read_predictions, score_apart
from arbitre.agreement.consensus.vote import WEAK_MARGIN, Strategy, vote
from arbitre.agreement.structural import alpha_of_documents
from arbitre.comparator.keywords import take_comparator
from arbitre.corpus.joining.provenance import DisagreementCounts, MeasuredAgreement, Provenance
from arbitre.errors import OptionError, did_you_mean
from arbitre.report.keywords import ReadingKeywords, option_sets

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from arbitre.agreement.coefficient import Coefficient
    from arbitre.agreement.consensus.assemble import Draft
    from arbitre.agreement.consensus.places import Places
    from arbitre.comparator import Comparator
    from arbitre.corpus.joining.sources import Paths
    from arbitre.corpus.reading.options import ReadOptions
    from arbitre.schema import SchemaSource
    from arbitre.values import Json


def consensus(
    schema: SchemaSource | Comparator,
    annotators: Mapping[str, Paths],
    *,
    strategy: Strategy = "majority",
    weak_margin: float = WEAK_MARGIN,
    systems: Mapping[str, Paths] | None = None,
    out: str | Path | None = None,
    **options: Unpack[AgreeKeywords],
) -> Consensus:
    """Build gold documents from the documents of several annotators, as `arbitre consensus` does.

    Args:
        schema: Schema of the documents, or a comparator.
        annotators: Sources of the documents of each annotator: folders, files or globs. Documents are joined by id.
        strategy: `majority` keeps what most annotators have, `unanimity` what all of them share. `dawid-skene` is a
            majority for texts, numbers and the presence of items; it weights the annotators of categories by their
            estimated error rates.
        weak_margin: Difference of the shares of votes for the two most frequent readings, below which a majority is
            flagged as weak.
        systems: Sources of the predictions of systems, which are scored on unanimous and on contested values apart.
        out: File for the documents (.jsonl), or a folder; None writes none.
        **options: Options of the comparator, and for reading documents.

    Returns:
        The documents, the disagreements, and their provenance.

    Raises:
        SchemaError: The schema is invalid.
        DataError: A document cannot be read, an annotator has two documents with the same id, no document has two
            annotators, or a file cannot be written.
        OptionError: An option is unknown or out of range.
    """
    given: dict[str, Any] = dict(options)
    comparator = take_comparator(schema, given)
    reading, _ = option_sets(given, ReadingKeywords)
    return consensus_on(
        comparator, annotators, reading, strategy=strategy, weak_margin=weak_margin, systems=systems, out=out
    )


def consensus_on(
    comparator: Comparator,
    annotators: Mapping[str, Paths],
    reading: ReadOptions,
    *,
    strategy: Strategy = "majority",
    weak_margin: float = WEAK_MARGIN,
    systems: Mapping[str, Paths] | None = None,
    out: str | Path | None = None,
) -> Consensus:
    """Read the documents of annotators and build gold documents from them; see `consensus`."""
    options = reading.for_plan(comparator.plan)
    annotations = read_annotations(annotators, options)
    predictions = {name: read_predictions(sources, options) for name, sources in (systems or {}).items()}
    built = build_consensus(
        comparator, annotations, strategy=strategy, weak_margin=weak_margin, predictions=predictions
    )
    if out is not None:
        built.save(out, id_key=reading.id_key)
    return built


def build_consensus(
    comparator: Comparator,
    annotations: Mapping[str, Mapping[str, Json]],
    *,
    strategy: Strategy = "majority",
    weak_margin: float = WEAK_MARGIN,
    predictions: Mapping[str, Iterable[tuple[str, Json]]] | None = None,
) -> Consensus:
    """Build gold documents from documents in memory; see `consensus`.

    Args:
        comparator: Comparator of the documents.
        annotations: Documents of each annotator, by id. An annotator may lack documents.
        strategy: See `consensus`.
        weak_margin: See `consensus`.
        predictions: Predictions of each system to score, with the ids of their documents.

    Raises:
        DataError: A value is not JSON, crowd-kit is not installed for `dawid-skene`, or no document has two annotators.
        OptionError: An option is unknown or out of range.
    """
    check_options(strategy, weak_margin)
    places = find_places(comparator.plan, annotations)
    estimates = estimate(places) if strategy == "dawid-skene" else Estimates({}, {})
    draft = _draft(places, strategy, weak_margin, estimates)
    notes = tuple(notes_of(places, draft, strategy, estimates))
    provenance = _provenance(alpha_of_documents(comparator.plan, places.aligned), places, draft, strategy)
    scores: dict[str, SystemScores] = {}
    if predictions:
        gold = _draft(places, "majority", weak_margin, estimates) if strategy == "unanimity" else draft
        scores = {name: score_apart(comparator.plan, gold, answers) for name, answers in predictions.items()}
    return Consensus(draft.documents, draft.disagreements, provenance, notes, draft.by_path, draft.values, scores)


def check_options(strategy: Strategy, weak_margin: float) -> None:
    """Raise OptionError if the strategy is unknown or the margin is out of range."""
    if strategy not in get_args(Strategy):
        names = get_args(Strategy)
        raise OptionError.of(
            f"Expected `strategy` to be one of {', '.join(names)}, got {strategy!r}.",
            hint=did_you_mean(strategy, names),
        )
    if not 0.0 <= weak_margin <= 1.0:
        raise OptionError.of(f"Expected `weak_margin` to be a number from 0 to 1, got {weak_margin}.")


def _draft(places: Places, strategy: Strategy, weak_margin: float, estimates: Estimates) -> Draft:
    votes = {place: vote(place, strategy, weak_margin, estimates.winners.get(place)) for place in places.every}
    return Assembly.of(places, votes, strategy).draft()


def _provenance(alpha: Coefficient, places: Places, draft: Draft, strategy: Strategy) -> Provenance:
    flagged = sum(disagreement.flagged for disagreement in draft.disagreements)
    return Provenance(
        places.annotators,
        strategy,
        MeasuredAgreement(alpha.name, alpha.value, alpha.items),
        len(draft.documents),
        DisagreementCounts(len(draft.disagreements), flagged, 0),
        draft.origins,
    )
