"""Builds gold documents from the documents of several annotators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack, get_args

from arbitre.agreement.agree import AgreeKeywords, read_annotations
from arbitre.agreement.consensus.assemble import Assembly
from arbitre.agreement.consensus.decisions import Decisions
from arbitre.agreement.consensus.disagreement import Consensus
from arbitre.agreement.consensus.notes import notes_of
from arbitre.agreement.consensus.places import find_places
from arbitre.agreement.consensus.queue_files import Queue, queue_files
from arbitre.agreement.consensus.revision import Revision, check_values
from arbitre.agreement.consensus.vote import WEAK_MARGIN, Strategy, vote
from arbitre.agreement.structural import alpha_of_documents
from arbitre.comparator.keywords import take_comparator
from arbitre.corpus.joining.provenance import DisagreementCounts, MeasuredAgreement, Provenance
from arbitre.errors import OptionError, did_you_mean
from arbitre.report.html.language import Language
from arbitre.report.keywords import ReadingKeywords, option_sets

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from arbitre.comparator import Comparator
    from arbitre.corpus.joining.sources import Paths
    from arbitre.schema import SchemaSource
    from arbitre.values import Json


def consensus(
    schema: SchemaSource | Comparator,
    annotators: Mapping[str, Paths],
    *,
    strategy: Strategy = "majority",
    weak_margin: float = WEAK_MARGIN,
    out: str | Path | None = None,
    decisions: str | Path | None = None,
    queue: str | Path | None = None,
    lang: str = "en",
    **options: Unpack[AgreeKeywords],
) -> Consensus:
    """Build gold documents from the documents of several annotators, as `arbitre consensus` does.

    Args:
        schema: Schema of the documents, or a comparator.
        annotators: Sources of the documents of each annotator: folders, files or globs. Documents are joined by id.
        strategy: `majority` keeps what most annotators have, `unanimity` what all of them share. `collegial` proposes
            the majority, and replaces it with the decisions of people on the disagreements. `dawid-skene` is a
            majority for texts, numbers and the presence of items; it weights the annotators of categories by their
            estimated error rates.
        weak_margin: Difference of the shares of votes for the two most frequent readings, below which a majority is
            flagged as weak.
        out: File for the documents (.jsonl), or a folder; None writes none.
        decisions: File with the decisions of people (.jsonl, .csv), for the strategy `collegial`.
        queue: File for the disagreements (.jsonl, .csv, .html), or a folder for all three; None writes none.
        lang: Language of the page of disagreements.
        **options: Options of the comparator, and for reading documents.

    Returns:
        The documents, the disagreements, and their provenance.

    Raises:
        SchemaError: The schema is invalid.
        DataError: A document cannot be read, an annotator has two documents with the same id, no document has two
            annotators, a decision is invalid, or a file cannot be written.
        OptionError: An option is unknown or out of range.
    """
    given: dict[str, Any] = dict(options)
    language = Language.named(lang)
    if queue is not None:
        queue_files(queue)
    comparator = take_comparator(schema, given)
    reading, _ = option_sets(given, ReadingKeywords)
    annotations = read_annotations(annotators, reading.for_plan(comparator.plan))
    read = None if decisions is None else Decisions.read(decisions)
    built = build_consensus(comparator, annotations, strategy=strategy, weak_margin=weak_margin, decisions=read)
    if queue is not None:
        by_id = {} if read is None else read.by_id
        names, version = built.provenance.annotators, comparator.plan.signature.version
        Queue(names, built.disagreements, by_id, version).write(queue, language)
    if out is not None:
        built.save(out, id_key=reading.id_key)
    return built


def build_consensus(
    comparator: Comparator,
    annotations: Mapping[str, Mapping[str, Json]],
    *,
    strategy: Strategy = "majority",
    weak_margin: float = WEAK_MARGIN,
    decisions: Decisions | None = None,
) -> Consensus:
    """Build gold documents from documents in memory; see `consensus`.

    Args:
        comparator: Comparator of the documents.
        annotations: Documents of each annotator, by id. An annotator may lack documents.
        strategy: See `consensus`.
        weak_margin: See `consensus`.
        decisions: The decisions of a file (`Decisions.read`).

    Raises:
        DataError: A value is not JSON, no document has two annotators, or a decision does not belong to a
            disagreement or violates the schema.
        OptionError: An option is unknown or out of range.
    """
    if strategy not in get_args(Strategy):
        names = get_args(Strategy)
        raise OptionError.of(
            f"Expected `strategy` to be one of {', '.join(names)}, got {strategy!r}.",
            hint=did_you_mean(strategy, names),
        )
    if decisions is not None and strategy != "collegial":
        raise OptionError.of("`decisions` requires `strategy` collegial.")
    if not 0.0 <= weak_margin <= 1.0:
        raise OptionError.of(f"Expected `weak_margin` to be a number from 0 to 1, got {weak_margin}.")
    places = find_places(comparator.plan, annotations)
    alpha = alpha_of_documents(comparator.plan, places.aligned)
    by = "majority" if strategy == "collegial" else strategy
    votes = {place: vote(place, by, weak_margin) for place in places.every}
    assembly = Assembly.of(places, votes, by)
    draft = assembly.draft()
    notes = tuple(notes_of(places, draft, strategy))
    documents, origins, decided = draft.documents, draft.origins, 0
    if strategy == "collegial":
        if decisions is not None:
            decisions.check(draft.disagreements)
        revision = Revision.of(assembly, draft, {} if decisions is None else decisions.by_id)
        if decisions is not None:
            check_values(comparator.plan, revision, decisions)
        documents, origins = revision.assembly.documents(), revision.origins()
        decided = len(draft.disagreements) - revision.undecided
        notes = (*notes, *revision.notes())
    flagged = sum(disagreement.flagged for disagreement in draft.disagreements)
    provenance = Provenance(
        places.annotators,
        strategy,
        MeasuredAgreement(alpha.name, alpha.value, alpha.items),
        len(documents),
        DisagreementCounts(len(draft.disagreements), flagged, decided),
        origins,
    )
    return Consensus(documents, draft.disagreements, provenance, notes, draft.by_path, draft.values)
