"""Builds gold documents from the documents of several annotators.

`consensus` reads the documents and writes the files, `build_consensus` takes documents in memory. `build_gold` finds
the places of the documents, lets the annotators vote on them, and assembles the gold documents.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from copy import copy, deepcopy
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Unpack, get_args

from arbitre.agreement.agree import (
    AgreeKeywords,
    alpha_of_documents,
    prepare,
    read_annotations,
)
from arbitre.agreement.consensus.assemble import Assembly
from arbitre.agreement.consensus.dawid_skene import LEAST_ANNOTATORS, LEAST_VALUES, Estimates, estimate
from arbitre.agreement.consensus.decisions import Decisions
from arbitre.agreement.consensus.disagreement import (
    Consensus,
    PartScores,
    RefusedDecision,
    SystemScores,
    check_consensus_path,
)
from arbitre.agreement.consensus.places import find_places
from arbitre.agreement.consensus.queue import Queue, queue_files
from arbitre.agreement.consensus.revision import revise
from arbitre.agreement.consensus.risk import BATCH, error_rates, least_risk, standing_of
from arbitre.agreement.consensus.vote import DEFAULT_STRATEGY, WEAK_MARGIN, vote
from arbitre.comparison.leaf_pairs import leaf_pairs
from arbitre.engine.batch_comparison import compare_batch, with_common_ids
from arbitre.errors import DataError, OptionError, check_integer, did_you_mean
from arbitre.gold.checks import findings_of, positions
from arbitre.inputs.annotation_files import AnnotationOptions
from arbitre.inputs.corpus_sources import listed, paths_in
from arbitre.inputs.document_ids import normalized_id
from arbitre.inputs.open_files import expand_globs
from arbitre.inputs.provenance import DisagreementCounts, MeasuredAgreement, Provenance
from arbitre.inputs.reader import LINES
from arbitre.inputs.source_texts import SourceTexts
from arbitre.language import Language, counted, percentage
from arbitre.normalizers import normalize
from arbitre.options import COMPARATOR, Reading, Strategy, spelled_out
from arbitre.storage.output_folder import check_output_folder, destination, paths_among
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from arbitre.agreement.agree import Annotators
    from arbitre.agreement.consensus.assemble import Draft
    from arbitre.agreement.consensus.places import Places
    from arbitre.agreement.consensus.risk import Presence
    from arbitre.comparator import Comparator
    from arbitre.gold.checks import GoldFinding
    from arbitre.inputs.corpus_sources import Documents, Paths
    from arbitre.options import AnnotationFormat
    from arbitre.schema import SchemaSource
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

MIN_ANNOTATORS: Final = 2
"""Default minimum number of annotators of a document."""

MAX_NAMED: Final = 3
"""Maximum number of documents that a note names."""


@spelled_out(*COMPARATOR, Reading)
def consensus(
    schema: SchemaSource | Comparator | None,
    annotators: Annotators,
    *,
    strategy: Strategy = DEFAULT_STRATEGY,
    weak_margin: float = WEAK_MARGIN,
    min_annotators: int = MIN_ANNOTATORS,
    systems: Mapping[str, Paths | Documents] | None = None,
    out: str | Path | None = None,
    queue: str | Path | None = None,
    source: str | Path | None = None,
    decisions: str | Path | None = None,
    lang: str = "en",
    force: bool = False,
    annotations: AnnotationFormat = "auto",
    layer: str | None = None,
    **options: Unpack[AgreeKeywords],
) -> Consensus:
    """Build gold documents from the documents of several annotators, as `arbitre consensus` does.

    Args:
        schema: Schema of the documents, or a comparator; None for spans from annotation tools.
        annotators: Sources of the documents of each annotator: folders, files or globs, or the documents themselves, as
            for `arbitre.evaluate`. Documents are joined by id. Or a file of an annotation tool that names its
            annotators.
        strategy: `minimum-risk` keeps what has the best expected score, given how often annotators omit items and
            add spurious ones. `majority` keeps what most annotators have, `unanimity` what all of them share.
            `collegial` proposes the majority, and replaces it with the decisions of people on the disagreements.
            `dawid-skene` uses the majority for texts, numbers and the presence of items, and weights votes on
            categories by the estimated error rates of the annotators.
        weak_margin: Minimum lead of the winning reading over the next one, as a share of the votes; a majority with a
            smaller lead is flagged as weak.
        min_annotators: Minimum number of annotators of a document; documents with fewer are left out.
        systems: Sources of the predictions of systems, or the predictions themselves. They are scored on unanimous and
            on contested values separately.
        out: File for the documents (.jsonl), or a folder; None writes none.
        queue: File for the disagreements (.jsonl, .csv or .html), or a folder for all three, which must not contain
            `out`; None writes none.
        source: Folder with the source text (`<id>.txt`) or picture (such as `<id>.png`) of each document. The page of
            disagreements shows the relevant part of it. Requires `queue`.
        decisions: File with the decisions of people (.jsonl, .csv or .tsv), for the strategy `collegial`.
        lang: Language of the page of disagreements.
        force: Whether to write beside files that arbitre did not write: to a folder that contains some, or to a new
            file beside one.
        annotations: Format of files of annotation tools; see `arbitre.entities.read`.
        layer: Layer of WebAnno TSV and XMI files; see `arbitre.entities.read`.
        **options: Options of the comparator, and for reading documents.

    Returns:
        The documents, the disagreements, and their provenance. `refused` lists the lines of the decisions file that
        were not applied; they are written to a file beside the documents, or else beside the queue.

    Raises:
        SchemaError: The schema is invalid.
        DataError: A document cannot be read, an annotator has no documents or two documents with the same id, no
            document has two annotators, every decision is refused, or a file cannot be written or is not one that
            arbitre wrote.
        OptionError: An option is unknown or out of range.
    """
    given: dict[str, Any] = dict(options)
    files = AnnotationOptions(annotations=annotations, layer=layer)
    comparator, sources, reading = prepare(schema, annotators, files, given)
    if not isinstance(sources, Mapping):
        raise OptionError.of("`annotators` must be a mapping, or a file that names several annotators.")
    language = Language.named(lang)
    systems = {name: listed(name, each) for name, each in (systems or {}).items()}
    inputs = [path for each in (*sources.values(), *systems.values()) for path in expand_globs(paths_in(each))]
    inputs += [*comparator.plan.inputs, *map(str, paths_among([decisions, source]))]
    if source is not None and queue is None:
        raise OptionError.of("`source` requires `queue`.")
    target, queue = consensus_outputs(out, queue, inputs=inputs, force=force)
    read = read_annotations(sources, reading.for_plan(comparator.plan), files, systems)
    decided = None if decisions is None else Decisions.read(decisions)
    ids = sorted({(key, None) for documents in read.documents.values() for key in documents})
    texts = None if source is None else SourceTexts.of(source, reading, ids, pictures=True)
    built = build_consensus(
        comparator,
        read.documents,
        strategy=strategy,
        weak_margin=weak_margin,
        min_annotators=min_annotators,
        predictions=read.predictions,
        decisions=decided,
    )
    built = replace(built, notes=(*read.notes, *built.notes))
    if target is not None:
        built.save(target, id_key=reading.id_key, inputs=inputs, force=force)
    refused = {each.id for each in built.refused}
    if queue is not None:
        by_id = {} if decided is None else {name: own for name, own in decided.by_id.items() if name not in refused}
        plan = comparator.plan
        written = Queue(built.provenance.annotators, built.disagreements, by_id, plan.signature.version, plan, texts)
        written.write(queue, language, inputs=inputs, force=force)
    beside = target or queue
    if decided is None or beside is None:
        return built
    return replace(built, refused_file=decided._replace(refused=built.refused).write_refused(beside))


def consensus_outputs(
    out: str | Path | None, queue: str | Path | None, *, inputs: Sequence[str] = (), force: bool = False
) -> tuple[Path | None, Path | None]:
    """Return the paths that the documents and the disagreements are written to; see `consensus`.

    Raises:
        DataError: One of them must not be written to.
        OptionError: The queue has an unknown format, both have the same path, or `out` is inside `queue`.
    """
    if out is not None and queue is not None:
        target, folder = Path(out).resolve(), Path(queue).resolve()
        if target == folder:
            raise OptionError.of("Expected different paths for `out` and `queue`.")
        if folder in target.parents:
            raise OptionError.of("Expected a path for `out` that is not inside `queue`.")
    if out is not None:
        out = destination(out, inputs=inputs, force=force) if Path(out).suffix.lower() in LINES else Path(out)
        check_consensus_path(Path(out or ""), inputs=inputs, force=force)
    if queue is not None:
        if queue_files(queue) == [Path(queue)]:
            queue = destination(queue, inputs=inputs, force=force)
        else:
            check_output_folder(Path(queue), "queue", inputs=inputs, force=force)
    return None if out is None else Path(out), None if queue is None else Path(queue)


def build_consensus(
    comparator: Comparator,
    annotations: Mapping[str, Mapping[str, Json]],
    *,
    strategy: Strategy = DEFAULT_STRATEGY,
    weak_margin: float = WEAK_MARGIN,
    min_annotators: int = MIN_ANNOTATORS,
    predictions: Mapping[str, Iterable[tuple[str, Json]]] | None = None,
    decisions: Decisions | None = None,
) -> Consensus:
    """Build gold documents from documents in memory; see `consensus`.

    Args:
        comparator: Comparator of the documents.
        annotations: Documents of each annotator, by id. An annotator may lack documents.
        strategy: See `consensus`.
        weak_margin: See `consensus`.
        min_annotators: See `consensus`.
        predictions: Predictions of each system to score, with the ids of their documents.
        decisions: Decisions on the disagreements, as `Decisions.read` returns them.

    Raises:
        DataError: A value is not JSON, crowd-kit is not installed for `dawid-skene`, no document has two annotators, or
            every decision is refused.
        OptionError: An option is unknown or out of range.
    """
    check_integer("min_annotators", min_annotators, least=1)
    plan = comparator.plan
    if plan.facts.has_ids:
        annotations = with_common_ids(plan, annotations)
        comparator = copy(comparator)
        comparator.plan = plan.with_compared_ids()  # gold needs the ids as well
    shared, notes = documents_of_several(annotations, min_annotators)
    built = build_gold(
        comparator, shared, strategy=strategy, weak_margin=weak_margin, decisions=decisions, predictions=predictions
    )
    standing = None
    if strategy != "dawid-skene" or len(shared) > LEAST_ANNOTATORS:
        proposed: Strategy = "majority" if strategy == "collegial" else strategy
        standing = standing_of(
            comparator.plan,
            shared,
            lambda others: _assembled(comparator.plan, find_places(comparator.plan, others), proposed, weak_margin)[
                0
            ].documents(),
        )
    return replace(built, notes=(*notes, *built.notes, *_errors_in(plan, built.documents)), standing=standing)


def documents_of_several(
    annotations: Mapping[str, Mapping[str, Json]], least: int
) -> tuple[dict[str, dict[str, Json]], list[str]]:
    """Return the documents that have at least this number of annotators, and notes on the others.

    Raises:
        DataError: There are none.
    """
    owners: dict[str, list[str]] = defaultdict(list)
    for name, documents in annotations.items():
        for key, document in documents.items():
            if document is not ABSENT:
                owners[key].append(name)
    few = {key: sorted(names) for key, names in sorted(owners.items()) if len(names) < least}
    notes = []
    if few:
        alone = ", ".join(f"{key!a} ({', '.join(names)})" for key, names in islice(few.items(), MAX_NAMED))
        notes.append(
            f"{len(few)} of {len(owners)} documents {'has' if len(few) == 1 else 'have'} fewer than {least} annotators "
            f"and {'is' if len(few) == 1 else 'are'} left out: {alone}{', …' * (len(few) > MAX_NAMED)}. "
            "Use --min-annotators to keep them."
        )
        forms: dict[str, list[str]] = defaultdict(list)
        for key in owners:
            forms[normalized_id(key)].append(key)
        close = sorted(keys for keys in forms.values() if len(keys) > 1 and any(key in few for key in keys))
        if close:
            names = ", ".join(f"{key!a}" for key in sorted(close[0]))
            notes.append(
                f"{counted(len(close), 'document')} {'have' if len(close) > 1 else 'has'} ids that differ "
                f"only in case, Unicode form or file extension, such as {names}. Use --normalize-ids to join them."
            )
    if few and len(few) == len(owners) and len(annotations) > 1:
        raise DataError.of(
            f"No document was annotated by at least {least} annotators",
            hint=" ".join(["Documents are joined by their ids.", *notes[1:]]),
        )
    kept = {
        name: {key: document for key, document in documents.items() if key not in few}
        for name, documents in annotations.items()
    }
    return kept, notes


def build_gold(
    comparator: Comparator,
    annotations: Mapping[str, Mapping[str, Json]],
    *,
    strategy: Strategy = DEFAULT_STRATEGY,
    weak_margin: float = WEAK_MARGIN,
    predictions: Mapping[str, Iterable[tuple[str, Json]]] | None = None,
    decisions: Decisions | None = None,
) -> Consensus:
    """Build gold documents from all documents, without comparing them with single annotators; see `build_consensus`."""
    check_options(strategy, weak_margin)
    if decisions is not None and strategy != "collegial":
        raise OptionError.of("`decisions` requires `strategy` collegial.")
    places = find_places(comparator.plan, annotations)
    assembly, estimates, presence = _assembled(comparator.plan, places, strategy, weak_margin)
    draft = assembly.draft()
    notes = tuple(_notes_of(places, draft, strategy, estimates))
    decided, undecided, refused = 0, tuple[str, ...](), tuple[RefusedDecision, ...]()
    if strategy == "collegial":
        revision, refused = revise(comparator.plan, assembly, draft, decisions)
        draft, undecided, notes = revision.revised(), revision.undecided, (*notes, *revision.notes())
        decided = len(draft.disagreements) - len(undecided)
    flagged = sum(disagreement.flagged for disagreement in draft.disagreements)
    alpha = alpha_of_documents(comparator.plan, places.aligned)
    provenance = Provenance(
        tuple(sorted(places.annotators)),
        strategy,
        MeasuredAgreement(alpha.name, alpha.value, alpha.items),
        len(draft.documents),
        DisagreementCounts(len(draft.disagreements), flagged, decided),
        draft.origins,
        error_rates(places, presence),
    )
    scores: dict[str, SystemScores] = {}
    if predictions:
        unanimous = strategy == "unanimity"
        gold = _assembled(comparator.plan, places, "majority", weak_margin)[0].draft() if unanimous else draft
        scores = {name: score_apart(comparator.plan, gold, answers) for name, answers in predictions.items()}
    return Consensus(
        draft.documents,
        draft.disagreements,
        provenance,
        notes,
        draft.by_path,
        draft.values,
        scores,
        undecided,
        refused=refused,
    )


def check_options(strategy: Strategy, weak_margin: float) -> None:
    """Raise OptionError if the strategy is unknown or the margin is out of range."""
    if strategy not in get_args(Strategy):
        names = get_args(Strategy)
        raise OptionError.of(
            f"Expected `strategy` to be a known name, got {strategy!r}",
            hint=did_you_mean(strategy, names),
        )
    if not 0.0 <= weak_margin <= 1.0:
        raise OptionError.of(f"Expected `weak_margin` to be a number from 0 to 1, got {weak_margin}.")


def _assembled(
    plan: Plan, places: Places, strategy: Strategy, weak_margin: float
) -> tuple[Assembly, Estimates, dict[str, Presence]]:
    """Return the documents of a strategy, the estimates of `dawid-skene`, and those of `minimum-risk`."""
    if strategy == "minimum-risk":
        assembly, presence = least_risk(plan, places, weak_margin)
        return assembly, Estimates({}, {}), presence
    estimates = estimate(places) if strategy == "dawid-skene" else Estimates({}, {})
    votes = {
        place: vote(place, strategy, weak_margin, candidates=estimates.candidates.get(place)) for place in places.every
    }
    return Assembly.of(places, votes, strategy), estimates, {}


def _notes_of(places: Places, draft: Draft, strategy: Strategy, estimates: Estimates) -> Iterator[str]:
    """Yield the assumptions of a strategy and what it left out."""
    single = sum(len(root.voters()) == 1 for root in places.roots.values())
    if single:
        documents = counted(single, "document was", "documents were")
        yield f"{documents} annotated by only one annotator and copied unchanged."
        yield "Nobody has confirmed the values of a single annotator; they count as flagged."
    if len(places.annotators) == 2 and strategy in {"majority", "collegial"}:  # noqa: PLR2004
        yield "With two annotators, there is no majority: every disagreement is a tie."
    if len(places.annotators) == 2 and strategy == "minimum-risk":  # noqa: PLR2004
        yield (
            "With two annotators, every disagreement is a tie. The data do not show who omits items and who adds "
            "spurious ones. The document of one annotator is therefore kept unchanged."
        )
    if strategy == "unanimity":
        left_out, total = draft.values.left_out, draft.values.total
        share = percentage(left_out / max(total, 1), 1)
        yield (
            f"Unanimity left out {left_out} of {total} values ({share}). The remaining values are the easy ones: "
            "systems score higher on them than on all values."
        )
    if strategy == "dawid-skene":
        yield from _of_estimates(places, estimates)


def _of_estimates(places: Places, estimates: Estimates) -> Iterator[str]:
    """Yield the assumptions of Dawid-Skene, and where they may not hold."""
    if not estimates.sizes:
        yield "No path has more than one category. The result is the same as with majority."
        return
    yield (
        f"Dawid-Skene was used at {', '.join(estimates.sizes)}; everything else was decided by majority. It assumes "
        "that annotators err independently, and that each annotator has the same error rates for all values of a "
        "category. Values that are hard for everybody, and several runs of one model, violate these assumptions."
    )
    if len(places.annotators) == LEAST_ANNOTATORS:
        yield (
            f"Dawid-Skene is unreliable with {LEAST_ANNOTATORS} annotators: if two of them make the same errors, the "
            "third one counts as wrong."
        )
    for path, (values, categories) in estimates.sizes.items():
        if values < LEAST_VALUES * categories:
            yield f"{path}: {values} values in {categories} categories are too few for reliable error rates."


def _errors_in(plan: Plan, documents: Mapping[str, Json]) -> Iterator[str]:
    """Yield how many gold documents have wrong references or violate the schema, with the first place of each kind.

    Annotators vote separately on items, fields and references, so the gold may have errors that no annotator made. A
    value that satisfies the schema after normalisation does not count as a violation.
    """
    references: list[tuple[str, GoldFinding]] = []
    violations: list[tuple[str, GoldFinding]] = []
    for name, document in documents.items():
        findings = findings_of(plan, document)
        wrong = [one for one in findings if one.check == "references"]
        references += [(name, one) for one in wrong[:1]]
        wrong = [one for one in findings if one.check == "schema"]
        if wrong:
            normal = findings_of(plan, _with_normalized_values(plan, document))
            remaining = {one.pointer for one in normal if one.check == "schema"}
            violations += [(name, one) for one in wrong if one.pointer in remaining][:1]
    for name, finding in references[:1]:
        yield (
            f"In {counted(len(references), 'document')}, the gold has ids or references that `arbitre evaluate` "
            f"refuses, for example in {name!a} at {finding.pointer}. Annotators vote separately on items and on "
            "references to them, so the gold can keep a reference to an item that was left out. Correct these ids and "
            "references in the gold."
        )
    for name, finding in violations[:1]:
        yield (
            f"In {counted(len(violations), 'document')}, the gold violates the schema, for example in {name!a} at "
            f"{finding.pointer or '/'}: `{finding.message}`."
        )


def _with_normalized_values(plan: Plan, document: Json) -> Json:
    """Return a copy of a document in which single values are normalised, if they remain single values."""
    holder: Any = [deepcopy(document)]
    for site, value, tokens in positions(plan, document):
        normal = normalize(site.normalizers if site.leaf is None else site.leaf.normalizers, value)
        if isinstance(value, str | int | float) and isinstance(normal, str | int | float):
            above = holder
            *outer, last = (0, *tokens)
            for token in outer:
                above = above[token]
            above[last] = normal
    return holder[0]


# Scores of systems, on unanimous and on contested values separately.


def by_document(predictions: Iterable[tuple[str, Json]]) -> dict[str, list[Json]]:
    """Return the predictions of each document, by its id."""
    answers: dict[str, list[Json]] = {}
    for name, predicted in predictions:
        answers.setdefault(name, []).append(predicted)
    return answers


def score_apart(plan: Plan, draft: Draft, predictions: Iterable[tuple[str, Json]]) -> SystemScores:
    """Score a system on unanimous and on contested values separately.

    Args:
        plan: The compiled schema.
        draft: The gold documents.
        predictions: The predictions of the system with the ids of their documents. A document may have several; a
            document without any counts as an empty prediction.
    """
    answers = by_document(predictions)
    pairs = [(name, predicted) for name in draft.documents for predicted in answers.get(name, [ABSENT])]
    parts: dict[bool, list[float]] = {True: [], False: []}
    for start in range(0, len(pairs), BATCH):
        batch = pairs[start : start + BATCH]
        sides = [draft.documents[name] for name, _ in batch], [each for _, each in batch]
        levels = compare_batch(plan, *sides, lenient=True).levels()
        for _, pair in leaf_pairs(levels):
            if pair.pointer is not None:
                contested = _is_below(pair.pointer, draft.origins.get(batch[pair.document][0], {}))
                parts[contested].append(pair.quality)
    return SystemScores(PartScores.of(parts[False]), PartScores.of(parts[True]))


def _is_below(pointer: str, places: Mapping[str, object]) -> bool:
    """Return whether a pointer is one of these places, or lies in one."""
    while pointer not in places:
        if not pointer:
            return False
        pointer = pointer.rpartition("/")[0]
    return True
