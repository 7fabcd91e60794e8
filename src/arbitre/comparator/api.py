"""The functions of the commands `evaluate`, `rank`, `perturb` and `schema suggest-...`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack, overload

from arbitre.comparator.comparator import ComparatorKeywords, take_comparator
from arbitre.errors import OptionError
from arbitre.gold.perturb import RATES, Perturbed, perturb_all
from arbitre.inputs.document_sources import gold_items, gold_records
from arbitre.inputs.open_files import expand_globs
from arbitre.inputs.records import readable
from arbitre.jobs.keywords import CorpusKeywords, SharedKeywords, SourceKeywords, document_pairs
from arbitre.jobs.ranking_job import EITHER, check_system_names, rank_evaluations, rank_paths
from arbitre.options import COMPARATOR, CORPUS, Reading, Sources, spelled_out
from arbitre.options import Evaluation as EvaluationGroup
from arbitre.statistics.intervals import LEVEL, METHOD
from arbitre.storage.output_folder import destination, output_text_file, paths_among, write_json
from arbitre.systems.ranking import SCORES, StatisticsOptions
from arbitre.values import as_tuple

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from arbitre.causes.fixes import Fixes
    from arbitre.comparator.comparator import Comparator
    from arbitre.corpus.evaluation import Evaluation
    from arbitre.corpus.quality_bounds import Bounds
    from arbitre.inputs.corpus_sources import Documents, Paths
    from arbitre.inputs.document_sources import Gold
    from arbitre.jobs.keywords import Pairs, Progress
    from arbitre.jobs.ranking_job import FactorsResults
    from arbitre.options import Average
    from arbitre.schema import SchemaSource
    from arbitre.statistics.intervals import Method
    from arbitre.statistics.sample import Cluster
    from arbitre.suggestions.aliases import AliasSuggestions
    from arbitre.suggestions.suggested_gate import SuggestedGate
    from arbitre.systems.ranking import Ranking
    from arbitre.values import Json


class EvaluateKeywords(ComparatorKeywords, CorpusKeywords, total=False):
    """Options of `arbitre.evaluate`."""


class RankKeywords(ComparatorKeywords, SharedKeywords, total=False):
    """Further options of `arbitre.rank`."""

    out: str | Path | None
    table: str | Sequence[str]
    fail_under: Bounds
    fail_over: Bounds


@spelled_out(*COMPARATOR, Sources, Reading, EvaluationGroup, *CORPUS, workers=1, cluster=None)
def evaluate(
    schema: SchemaSource | Comparator,
    pairs: Pairs | None = None,
    *,
    progress: Progress | None = None,
    **options: Unpack[EvaluateKeywords],
) -> Evaluation:
    """Compare all documents of a corpus, as `arbitre evaluate` does; short for `Comparator(schema).evaluate(...)`.

    Args:
        schema: Schema of the documents, or a comparator.
        pairs: The documents; see `Comparator.evaluate`.
        progress: Called with the number of documents compared.
        **options: The options of `arbitre evaluate`, such as `gold` and `predicted`, and those of `Comparator`, such as
            `overlay`.

    Returns:
        The evaluation. With `out`, its files are written to this folder.

    Raises:
        SchemaError: The schema is invalid.
        DataError: A source cannot be read, or a file cannot be written.
        OptionError: An option is unknown, or options contradict each other.
        QualityBoundError: A score misses a bound of `fail_under` or `fail_over`. The files of `out` are written first.
    """
    given: dict[str, Any] = {**options}
    return take_comparator(schema, given).evaluate(pairs, progress=progress, **given)


@overload
def rank(
    systems: Mapping[str, Evaluation | Paths | Documents],
    score: str | Sequence[str] = ...,
    *,
    schema: SchemaSource | Comparator | None = ...,
    gold: Paths | Documents | None = ...,
    beside: str | Sequence[str] = ...,
    aggregate: Average = ...,
    level: float = ...,
    method: Method = ...,
    cluster: Cluster = ...,
    seed: int = ...,
    **options: Unpack[RankKeywords],
) -> Ranking: ...


@overload
def rank(
    *,
    score: str | Sequence[str] = ...,
    schema: SchemaSource | Comparator,
    manifest: str | Path,
    factor: str | Sequence[str],
    aggregate: Average = ...,
    level: float = ...,
    method: Method = ...,
    cluster: Cluster = ...,
    seed: int = ...,
    **options: Unpack[RankKeywords],
) -> FactorsResults: ...


@spelled_out(*COMPARATOR, Reading, *CORPUS, workers=1, out=None, table=())
def rank(
    systems: Mapping[str, Evaluation | Paths | Documents] | None = None,
    score: str | Sequence[str] = "f1q",
    *,
    schema: SchemaSource | Comparator | None = None,
    gold: Paths | Documents | None = None,
    manifest: str | Path | None = None,
    factor: str | Sequence[str] = (),
    beside: str | Sequence[str] = SCORES,
    aggregate: Average = "macro",
    level: float = LEVEL,
    method: Method = METHOD,
    cluster: Cluster = None,
    seed: int = 0,
    **options: Unpack[RankKeywords],
) -> Ranking | FactorsResults:
    """Rank systems by their scores on the same documents, or compare factor levels, as `arbitre rank` does.

    Every pair of systems is compared by paired approximate randomisation (see `arbitre.statistics.contrasts`).

    Args:
        systems: Evaluations, or predictions, by the names of the systems. Predictions are paths or documents, as for
            `evaluate`.
        score: Score to rank by, one of `arbitre.statistics.sample.HIGHER_IS_BETTER` or `fq(beta)`. With
            several scores, the first determines the ranking and the others replace `beside`.
        schema: Schema or comparator, if predictions are given.
        gold: The gold documents or their paths, if predictions are given.
        manifest: CSV file with the columns id, gold and predicted and a column for each factor, instead of `systems`
            and `gold`.
        factor: Columns of the manifest whose values are compared.
        beside: Other scores to show, each ranked separately.
        aggregate: micro or macro.
        level: Confidence level.
        method: Method of the intervals (see `arbitre.statistics.Method`).
        cluster: Documents to resample together (see `Evaluation.interval`). By default the runs of one document form a
            cluster.
        seed: Random seed.
        **options: `out`, the folder for the ranking, its tables and its report, with a folder for each system; `table`,
            further tables to write there; `fail_under` and `fail_over`, bounds on the scores of each system; `lang`.
            For predictions, also the options for reading and evaluating documents, as for `evaluate`.

    Returns:
        The ranking, or the comparison of each factor.

    Raises:
        DataError: There are no systems, or the systems have different documents or runs.
        OptionError: An option or a score is unknown or invalid, or options contradict each other.
        QualityBoundError: A system misses a bound of `fail_under` or `fail_over`.

    >>> from arbitre import Comparator
    >>> comparator = Comparator({"type": "array", "items": {"type": "string"}})
    >>> gold = [(page, ["Ada", "Bo"]) for page in "abcde"]
    >>> ranking = rank({
    ...     "hasty": comparator.evaluate((page, names, names[:1]) for page, names in gold),
    ...     "careful": comparator.evaluate((page, names, names) for page, names in gold),
    ... })
    >>> [system.name for system in ranking.systems], ranking.pairs[0].p, ranking.groups
    (['careful', 'hasty'], 0.0625, (('careful', 'hasty'),))
    """
    scores = (score, *as_tuple(beside)) if isinstance(score, str) else tuple(score) or SCORES
    scores, factors, known = tuple(dict.fromkeys(scores)), as_tuple(factor), systems or {}
    statistics = StatisticsOptions(aggregate=aggregate, level=level, method=method, cluster=cluster, seed=seed)
    given: dict[str, Any] = {**options}
    given["table"] = as_tuple(given.get("table"))
    if given.get("out") is not None:
        check_system_names(known)
    if schema is None:
        if gold is not None or manifest or factors:
            raise OptionError.of(EITHER)
        return rank_evaluations(known, scores, statistics, given)
    plan = take_comparator(schema, given).plan
    return rank_paths(
        plan, scores, statistics, gold=gold, systems=known, manifest=manifest, factors=factors, options=given
    )


class SuggestionKeywords(ComparatorKeywords, SourceKeywords, total=False):
    """Options of `arbitre.suggest_aliases` and `arbitre.suggest_gate`."""


@spelled_out(*COMPARATOR, Sources, Reading)
def suggest_aliases(
    schema: SchemaSource | Comparator,
    pairs: Pairs | None = None,
    *,
    out: str | Path | None = None,
    force: bool = False,
    **options: Unpack[SuggestionKeywords],
) -> AliasSuggestions:
    """Suggest aliases for fields that predictions put under other keys, as `arbitre schema suggest-aliases` does.

    Args:
        schema: Schema of the documents, or a comparator.
        pairs: The documents; see `Comparator.evaluate`.
        out: File for the overlay; None writes none.
        force: If `out` is a file that arbitre did not write, write to a new file beside it.
        **options: The options of `arbitre schema suggest-aliases`, such as `gold` and `predicted`, and those of
            `Comparator`.

    Returns:
        The suggested aliases with their evidence.

    Raises:
        SchemaError: The schema is invalid.
        DataError: A source cannot be read, or the file cannot be written.
        OptionError: An option is unknown, or options contradict each other.
    """
    given: dict[str, Any] = {**options}
    comparator = take_comparator(schema, given)
    target = destination(out, inputs=_inputs(comparator, pairs, given), force=force)
    suggested = comparator.suggest_aliases(pairs, **given)
    write_json(suggested.overlay, target)
    return suggested


@spelled_out(*COMPARATOR, Sources, Reading)
def suggest_gate(
    schema: SchemaSource | Comparator,
    pairs: Pairs | None = None,
    *,
    seed: int = 0,
    out: str | Path | None = None,
    force: bool = False,
    **options: Unpack[SuggestionKeywords],
) -> SuggestedGate:
    """Suggest a minimum quality (`gate`) for matching entries, as `arbitre schema suggest-gate` does.

    Args:
        schema: Schema of the documents, or a comparator.
        pairs: The documents; see `Comparator.evaluate`.
        seed: Random seed of the sample of chance pairs.
        out: File for the overlay; None writes none.
        force: If `out` is a file that arbitre did not write, write to a new file beside it.
        **options: The options of `arbitre schema suggest-gate`, such as `gold` and `predicted`, and those of
            `Comparator`.

    Returns:
        The suggested gate, and the number of matched pairs below it.

    Raises:
        SchemaError: The schema is invalid.
        DataError: A source cannot be read, there is only one document, the entries are not matched by `hungarian`
            without a gate, or the file cannot be written.
        OptionError: An option is unknown, or options contradict each other.
    """
    given: dict[str, Any] = {**options}
    comparator = take_comparator(schema, given)
    target = destination(out, inputs=_inputs(comparator, pairs, given), force=force)
    suggested = comparator.suggest_gate(pairs, seed=seed, **given)
    write_json(suggested.overlay, target)
    return suggested


class FixKeywords(ComparatorKeywords, SourceKeywords, total=False):
    """Options of `arbitre.fix`."""


@spelled_out(*COMPARATOR, Sources, Reading)
def fix(
    schema: SchemaSource | Comparator,
    pairs: Pairs | None = None,
    *,
    accept: str | Collection[str] = (),
    out: str | Path | None = None,
    force: bool = False,
    **options: Unpack[FixKeywords],
) -> Fixes:
    """Find changes that would fix the causes of faults in a corpus, as `arbitre fix` does.

    The changes are those of `Evaluation.causes`, in the order in which to make them. At most 400 documents are
    examined.

    Args:
        schema: Schema of the documents, or a comparator.
        pairs: The documents; see `Comparator.evaluate`.
        accept: Kinds of causes whose changes to include in the overlay, or "gate". By default, all changes except those
            that do not raise the chance-corrected f1q, those that gain nothing on held-out documents, and
            value-mappings whose held-out gain is less than half of their gain or that may contain misread values.
        out: File for the overlay: the accepted changes, with the settings of `overlay`; None writes none.
        force: If `out` is a file that arbitre did not write, write to a new file beside it.
        **options: The options of `arbitre fix`, such as `gold` and `predicted`, and those of `Comparator`.

    Returns:
        The changes with their gains, and an overlay with the accepted ones and the settings of `overlay`.

    Raises:
        SchemaError: The schema is invalid.
        DataError: A source cannot be read, or the file cannot be written.
        OptionError: An option is unknown, or options contradict each other.
    """
    from arbitre.causes.fixes import find_fixes  # noqa: PLC0415  (only used here)
    from arbitre.causes.sample import documents_to_search  # noqa: PLC0415

    given: dict[str, Any] = {**options}
    comparator = take_comparator(schema, given)
    target = destination(out, inputs=_inputs(comparator, pairs, given), force=force)
    documents = documents_to_search(document_pairs(comparator.plan, pairs, **given))
    found = find_fixes(comparator.plan, documents, as_tuple(accept))
    write_json(found.overlay, target)
    return found


def _inputs(comparator: Comparator, pairs: Pairs | None, given: dict[str, Any]) -> list[str]:
    """Return the files and folders that a suggestion is derived from."""
    names = ("gold", "predicted", "manifest", "project")
    paths = [path for source in (pairs, *map(given.get, names)) for path in paths_among(source)]
    return [*comparator.plan.inputs, *expand_globs(paths)]


@dataclass(frozen=True, slots=True)
class PerturbedGold:
    """A gold document and its copy with planted faults.

    Attributes:
        id: Id of the document.
        gold: The gold document.
        perturbed: The copy and its planted faults.
    """

    id: str
    gold: Json
    perturbed: Perturbed

    def to_dict(self) -> dict[str, Json]:
        """Return a JSON-serialisable dictionary: a record with `id`, `gold`, `predicted` and `planted`."""
        planted = [fault.to_dict() for fault in self.perturbed.faults]
        return {"id": self.id, "gold": self.gold, "predicted": self.perturbed.document, "planted": planted}


def perturb_gold(
    gold: Gold,
    rates: Mapping[str, float] = RATES,
    *,
    at: str | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    id_key: str = "id",
    force: bool = False,
) -> tuple[PerturbedGold, ...]:
    """Plant faults in copies of gold documents, as `arbitre perturb` does.

    Args:
        gold: A path, or an iterable of paths, of documents, or of (id, document) pairs, as for `Comparator.check_gold`.
        rates: For each kind of fault, the expected share of entries that receive it; see `arbitre.perturb`.
        at: Wildcard path of the only list to plant faults in.
        seed: Random seed.
        out: File for the records, one JSON object per line; None writes none.
        id_key: Key of the id of a record in a file.
        force: If `out` is a file that arbitre did not write, write to a new file beside it.

    Returns:
        Each gold document with its copy and the planted faults.

    Raises:
        ArbitreError: A kind is unknown, a rate is out of range, or no document has a list at `at`.
        DataError: A document cannot be read, or the file cannot be written or is not one that arbitre wrote.

    >>> (page,) = perturb_gold([("page_1", ["Ada", "Bo"])], {"drop": 0.5})
    >>> page.perturbed.document, page.perturbed.counts
    (['Bo'], {'drop': 1})
    """
    items = gold_items(gold)
    target = destination(out, inputs=expand_globs(paths_among(items)), force=force)
    documents = [(str(record.id), record.value) for record in map(readable, gold_records(items, id_key))]
    perturbed = perturb_all(documents, rates, at=at, seed=seed)
    copies = tuple(PerturbedGold(*document, copy) for document, copy in zip(documents, perturbed, strict=True))
    if target is not None:
        with output_text_file(target) as file:
            file.writelines(json.dumps(copy.to_dict(), ensure_ascii=False) + "\n" for copy in copies)
    return copies
