"""Compares two evaluations of one system, before and after a change: paired tests, tables, and reports for CI."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypeAlias
from xml.etree import ElementTree as ET

import numpy as np

from arbitre.corpus.archive import RESULTS, read_archive
from arbitre.corpus.documents import sum_tallies
from arbitre.corpus.evaluation import EVALUATION, Evaluation
from arbitre.corpus.quality_bounds import SCOPES, check_bounds, check_plain, parse_bounds, require
from arbitre.corpus.tables import AVERAGES
from arbitre.errors import DataError, OptionError, Problem, QualityBoundError, show_hidden
from arbitre.inputs.document_ids import quote_names
from arbitre.language import Language, Translator
from arbitre.schema.validate import read_valid
from arbitre.statistics.intervals import LEVEL
from arbitre.statistics.paired_tests import contrasts, different_clusters, holm, holm_of_pairs, threshold
from arbitre.statistics.sample import Sample, assign_clusters, estimate, parse_beta, value, weigh_for_beta
from arbitre.tables.table import SCORE, SIGNED, WHOLE, Table, TableColumn, probability
from arbitre.tally import Scores, scores_from_counts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arbitre.arrays import Floats, Indices
    from arbitre.corpus.documents import DocumentTable
    from arbitre.corpus.quality_bounds import Bounds, MissedBound, QualityBound
    from arbitre.options import Average
    from arbitre.statistics.paired_tests import Difference

Change: TypeAlias = Literal["improved", "worse", "no evidence"]
"""What the paired test says about a score: significantly higher, significantly lower, or neither."""

HEADLINES: Final = {**AVERAGES, "document_quality": "Document quality (mean)"}
"""Labels of the tested scores of a whole corpus."""

SCORE_TOLERANCE: Final = 1e-9
"""Maximum difference of scores that count as equal."""

UNTESTED: Final = "The change was not tested: one of the evaluations has no results of single documents"
UNDEFINED: Final = "Scores of the whole corpus that are undefined before or after were not tested"
TOO_FEW: Final = (
    "Too few {} differ for a test to be significant ({}): p would be above {:.2f} even if all of them changed in the "
    "same direction; set a tolerance to limit the decrease"
)
CLUSTERS: Final = "Units of the tests: clusters of documents ({})"
RUNS: Final = "Units of the tests: documents, each with all its runs ({})"
SHARED: Final = (
    "Scores and tests cover the documents that both evaluations have ({}); the score of leaves covers all documents"
)


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """The score of a path, a document or the corpus before and after a change; undefined scores are None."""

    name: str
    before: float | None
    after: float | None

    @property
    def difference(self) -> float | None:
        """`after` minus `before`; None if a score is undefined."""
        return _difference(self.before, self.after)


def _difference(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before


@dataclass(frozen=True, slots=True)
class TestedChange(ScoreChange):
    """A change in a score, with the result of its paired test.

    Attributes:
        p: p of the test, adjusted by Holm; None if the change was not tested.
        verdict: What the test says; None if the change was not tested.
    """

    __test__ = False  # no class of tests

    p: float | None = None
    verdict: Change | None = None

    def tested(self, p: float | None) -> TestedChange:
        """Return the change with the verdict for an adjusted p; without a p, it is not tested."""
        if p is None:
            return self
        significant = p <= threshold(LEVEL)
        found: Change = ("improved" if (self.difference or 0.0) > 0.0 else "worse") if significant else "no evidence"
        return replace(self, p=p, verdict=found)


@dataclass(frozen=True, slots=True)
class EvaluationDiff:
    """Changes between two evaluations.

    If the results of single documents are known, all scores except `leaves` are of the documents that both evaluations
    have. Each is tested with the paired test of `arbitre rank`, with p adjusted by Holm: over the three scores `micro`,
    `macro` and `document_quality`, and over all paths.

    Attributes:
        score: Name of the compared score.
        micro: Change of the pooled score.
        macro: Change of the per-document mean.
        leaves: Change of the pooled score of all leaves; not tested.
        document_quality: Change of the mean document quality.
        paths: Changes of paths that are in both evaluations, largest drop first. Those with an undefined score before
            or after are between the drops and the rises.
        documents: Changes of documents that are in both evaluations, in the same order.
        only_before: Documents that are only in the first evaluation.
        only_after: Documents that are only in the second evaluation.
        failed: Numbers of failed documents, before and after.
        newly_failed: Shared documents that failed only in the second evaluation.
        settings: Entries of the signature that differ. If there are any, the scores are not comparable.
        notes: The number of units of the tests, if these are clusters, and limitations of the comparison, such as too
            few documents for a test.
        tolerance: Largest accepted decrease in a score, where an undefined score counts as 0; None to accept any
            decrease that is not significant.
        clusters: Number of clusters of the shared documents; None if each document is a unit, or if the clusters are
            unknown.
    """

    score: str
    micro: TestedChange
    macro: TestedChange
    leaves: TestedChange
    document_quality: TestedChange
    paths: tuple[TestedChange, ...]
    documents: tuple[ScoreChange, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    failed: tuple[int, int]
    newly_failed: tuple[str, ...]
    settings: tuple[str, ...]
    notes: tuple[str, ...] = ()
    tolerance: float | None = None
    clusters: int | None = None

    @property
    def headlines(self) -> dict[str, TestedChange]:
        """The tested scores of the whole corpus, by their labels."""
        return {label: getattr(self, name) for name, label in HEADLINES.items()}

    @property
    def verdict(self) -> str:
        """Summary of the tests of the three scores: improved, worse, mixed, no evidence of a change, or not tested.

        If a score was not tested, for example because it is undefined, the summary is worse, mixed or not tested.
        """
        found = {change.verdict for change in self.headlines.values()}
        if "worse" in found:
            return "mixed" if "improved" in found else "worse"
        if None in found:
            return "not tested"
        return "improved" if "improved" in found else "no evidence of a change"

    @property
    def worse(self) -> bool:
        """Whether a score of the whole corpus is significantly lower or, with `tolerance`, fell by more than that."""
        return bool(self.regressions)

    @property
    def regressions(self) -> tuple[str, ...]:
        """The scores that make the second evaluation worse: name, difference and p."""
        return tuple(self._fall(label, change) for label, change in self.headlines.items() if self._fell(change))

    def _fell(self, change: TestedChange) -> bool:
        if self.tolerance is None:
            return change.verdict == "worse"
        return (change.before or 0.0) - (change.after or 0.0) > self.tolerance + SCORE_TOLERANCE

    def _fall(self, label: str, change: TestedChange) -> str:
        measure = label if change is self.document_quality else f"{label} {self.score}"
        p = "not tested" if change.p is None else f"p = {probability(change.p)}, Holm"
        before, after = change.before or 0.0, change.after or 0.0
        numbers = f"{before - after:.4f}, from {before:.4f} to {after:.4f} ({p})"
        return f"{measure} fell by {numbers}"

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serialisable dictionary."""
        plain = asdict(self)
        wholes = (plain[name] for name in SCOPES)
        for change in (*wholes, *plain["paths"], *plain["documents"]):
            change["difference"] = _difference(change["before"], change["after"])
        return plain | {"verdict": self.verdict, "worse": self.worse}

    def tables(self) -> tuple[Table, Table]:
        """Return the tables of the scores of the whole corpus and of the changed paths."""
        wholes = {**self.headlines, "Leaves, pooled (micro)": self.leaves}
        paths = {change.name or WHOLE: change for change in self.paths}
        return _table("score", "Scores", wholes), _table("path", "Paths, pooled (micro)", paths)

    def documents_table(self) -> Table:
        """Return the table of the documents of which the score changed."""
        rows = [(change.name, change.before, change.after, change.difference) for change in self.documents]
        known = [change.difference for change in self.documents if change.difference is not None]
        lower = sum(difference < 0.0 for difference in known)
        title = f"Documents: {lower} lower, {len(known) - lower} higher"
        if len(known) < len(rows):
            title += f", {len(rows) - len(known)} with an undefined score before or after"
        return Table.of(title, (TableColumn("document"), *_CELLS[:3]), rows)

    def to_markdown(self, *, lang: str = "en") -> str:
        """Return the changes as Markdown, for a comment on a pull request, in the language "en" or "fr"."""
        say = Translator(Language.named(lang))
        failed = " -> ".join(map(str, self.failed))
        lines = [f"**{say.text(f'{self.score}: {self.verdict}')}**", "", say.text(f"Failed documents: {failed}")]
        if self.newly_failed:
            keys = ", ".join(f"`{show_hidden(key)}`" for key in self.newly_failed)
            lines += ["", say.text(f"Failed only after: {keys}")]
        lines += [f"\n{say.text(f'{show_hidden(note)}.')}" for note in (*self.notes, *_settings_note(self.settings))]
        scores, paths = self.tables()
        blocks = ["\n".join(lines) + "\n", scores.markdown(lang=lang)]
        blocks += [f"{say.text(paths.title)}\n\n{paths.markdown(lang=lang)}"] if self.paths else []
        return "\n".join(blocks)

    def to_junit(self) -> str:
        """Return the changes as JUnit XML: one test case per score and changed path.

        The test cases of the scores that make the second evaluation `worse` are failures. Scores that were not tested
        are skipped, unless there is a `tolerance`.
        """
        suite = ET.Element("testsuite", name=f"arbitre diff {self.score}")
        for label, change in self.headlines.items():
            case = _case(suite, self.score, label, change)
            if self._fell(change):
                case.insert(0, ET.Element("failure", message=self._fall(label, change)))
            elif change.verdict is None and self.tolerance is None:
                case.insert(0, ET.Element("skipped", message="not tested"))
        for change in self.paths:
            _case(suite, f"{self.score}.paths", change.name or WHOLE, change)
        suite.set("tests", str(len(suite)))
        suite.set("failures", str(len(suite.findall("testcase/failure"))))
        suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
        ET.indent(suite)
        return ET.tostring(suite, "unicode", xml_declaration=True) + "\n"


def _case(suite: ET.Element, group: str, name: str, change: TestedChange) -> ET.Element:
    case = ET.SubElement(suite, "testcase", classname=f"arbitre.{group}", name=show_hidden(name))
    before, after, difference, p, verdict = (cell.text(one) for cell, one in zip(_CELLS, _row(change), strict=True))
    output = ET.SubElement(case, "system-out")
    output.text = f"before {before}, after {after}, change {difference}, p {p}: {verdict}"
    return case


_CELLS: Final = (
    TableColumn("before", SCORE, drop=1),
    TableColumn("after", SCORE),
    TableColumn("change", SIGNED, emphasis="strong"),
    TableColumn("p", probability),
    TableColumn("verdict", said=Translator.text),
)


def _row(change: TestedChange) -> tuple[str | float | None, ...]:
    return change.before, change.after, change.difference, change.p, change.verdict or "not tested"


def _table(kind: str, title: str, changes: Mapping[str, TestedChange]) -> Table:
    rows = tuple((name, *_row(change)) for name, change in changes.items())
    name = TableColumn(kind, kind="path") if kind == "path" else TableColumn(kind, said=Translator.text)
    return Table.of(title, (name, *_CELLS), rows)


def _settings_note(settings: Sequence[str]) -> tuple[str, ...]:
    names = ", ".join(settings)
    return (f"The evaluations differ in {names}: their scores may not be comparable",) if settings else ()


def diff(
    before: Evaluation | str | Path,
    after: Evaluation | str | Path,
    score: str = "f1q",
    *,
    fail_if_worse: bool = False,
    tolerance: float | None = None,
    fail_under: Bounds = (),
    fail_over: Bounds = (),
) -> EvaluationDiff:
    """Compare the evaluations of a system before and after a change, as `arbitre diff` does.

    Args:
        before: The first evaluation, its `evaluation.json`, or the folder of this file.
        after: The second evaluation, in the same forms.
        score: One of `arbitre.statistics.sample.HIGHER_IS_BETTER` or `fq(beta)`.
        fail_if_worse: Whether to raise an error if a score of the whole corpus is significantly lower.
        tolerance: With `fail_if_worse`, raise the error instead if such a score falls by more than this amount,
            regardless of significance.
        fail_under: Minimum scores of the second evaluation, as for `arbitre.check_bounds`.
        fail_over: Maximum scores of the second evaluation.

    Returns:
        The changes. Use `to_markdown()` for a comment on a pull request, and `to_junit()` for a CI server.

    Raises:
        DataError: A file is not an evaluation, the `results.npz` next to it does not belong to it, the evaluations
            have no document in common or different clusters, the change cannot be tested or a score has become
            undefined and `fail_if_worse` is set without `tolerance`, or `fq(beta)` requires missing results of
            documents.
        OptionError: The score is unknown or one for which lower is better, or `tolerance` is negative or is set without
            `fail_if_worse`.
        QualityBoundError: The second evaluation is worse and `fail_if_worse` is set, or it misses a bound.
    """
    check_tolerance(tolerance, fail_if_worse=fail_if_worse)
    found = compare_evaluations(before, after, score, tolerance)
    check_regressions(found, fail_if_worse=fail_if_worse)
    bounds = parse_bounds(fail_under, fail_over)
    require(check_bounds(after, fail_under=bounds) if isinstance(after, Evaluation) else check_file(after, bounds))
    return found


def check_tolerance(tolerance: float | None, *, fail_if_worse: bool) -> None:
    """Raise OptionError if the tolerance is negative, or is set without `fail_if_worse`."""
    if tolerance is not None and not fail_if_worse:
        raise OptionError.of("`tolerance` requires `fail_if_worse`: it is the largest fall that does not fail.")
    if tolerance is not None and not 0.0 <= tolerance < 1.0:
        raise OptionError.of(f"Expected `tolerance` to be at least 0 and below 1, got {tolerance}")


def check_regressions(found: EvaluationDiff, *, fail_if_worse: bool) -> None:
    """Raise QualityBoundError if the second evaluation is worse, with one problem for each score; see `diff`.

    Raises DataError if the change cannot be tested, because there are no results of documents or a score has become
    undefined.
    """
    if fail_if_worse and found.worse:
        raise QualityBoundError(*map(Problem, found.regressions))
    if not fail_if_worse or found.tolerance is not None:
        return
    if found.document_quality.verdict is None:  # it is always defined
        raise DataError.of(
            UNTESTED, hint="Compare the folders that `arbitre evaluate --out` has written, or set --tolerance."
        )
    lost = [label for label, one in found.headlines.items() if one.before is not None and one.after is None]
    if lost:
        raise DataError.of(
            f"Expected {found.score} to be defined after the change, got an undefined score: {', '.join(lost)}",
            hint="Set --tolerance, for which an undefined score counts as 0, or compare another score.",
        )


def compare_evaluations(
    before: Evaluation | str | Path, after: Evaluation | str | Path, score: str, tolerance: float | None = None
) -> EvaluationDiff:
    """Return the changes; see `diff` for the arguments and the errors."""
    parse_beta(score)  # refuses other scores
    sides = [
        _Side.of(side, score) if isinstance(side, Evaluation) else _Side.read(side, score) for side in (before, after)
    ]
    first, second = sides
    shared = _Shared.of(first, second, score)
    notes: tuple[str, ...] = (UNTESTED,)
    if shared is None:
        wholes = {name: TestedChange(name, first.scores[name], second.scores[name]) for name in SCOPES}
        paths = _changed(first.by_path, second.by_path)
    else:
        wholes, notes = shared.wholes()
        wholes["leaves"] = TestedChange("leaves", first.scores["leaves"], second.scores["leaves"])
        paths = shared.paths()
    return EvaluationDiff(
        score,
        **wholes,
        paths=paths,
        documents=() if shared is None else shared.documents(),
        only_before=() if shared is None else tuple(sorted(shared.keys[0].keys() - shared.keys[1].keys())),
        only_after=() if shared is None else tuple(sorted(shared.keys[1].keys() - shared.keys[0].keys())),
        failed=(first.failed, second.failed),
        newly_failed=() if shared is None else shared.newly_failed(),
        settings=tuple(
            name
            for name in dict.fromkeys((*first.settings, *second.settings))
            if first.settings.get(name) != second.settings.get(name)
        ),
        notes=notes,
        tolerance=tolerance,
        clusters=None if shared is None or shared.clusters is None else len(set(shared.clusters)),
    )


def check_file(path: str | Path, bounds: Sequence[QualityBound]) -> tuple[MissedBound, ...]:
    """Check an `evaluation.json` against bounds. Raises DataError."""
    return check_plain(read_valid(_file(path), "evaluation"), bounds) if bounds else ()


@dataclass(frozen=True, slots=True)
class _Side:
    """What is compared of an evaluation.

    Attributes:
        scores: The scores of the whole corpus, by the names in `SCOPES`.
        by_path: The score of every path.
        documents: The results of the documents; None if unknown.
        failed: Number of failed documents.
        settings: The entries of the signature and its version.
        clusters: Cluster of every document, if the evaluation names them.
    """

    scores: Mapping[str, float | None]
    by_path: Mapping[str, float | None]
    documents: DocumentTable | None
    failed: int
    settings: Mapping[str, str]
    clusters: tuple[str, ...] | None = None

    @classmethod
    def of(cls, evaluation: Evaluation, score: str) -> Self:
        """Take the scores of an evaluation."""
        table = evaluation.document_table
        wholes = {
            "micro": value(evaluation.micro, score),
            "macro": _macro(evaluation.macro.means, table, score),
            "leaves": value(evaluation.leaves, score),
            "document_quality": evaluation.document_quality.mean,
        }
        return cls(
            wholes,
            {path: value(scores, score) for path, scores in evaluation.by_path.items()},
            table,
            evaluation.macro.failed,
            dict(evaluation.signature.entries) | {"version": evaluation.signature.version},
            evaluation.clusters or None,
        )

    @classmethod
    def read(cls, path: str | Path, score: str) -> Self:
        """Read the scores of an `evaluation.json`, and the results of the documents in the `results.npz` next to it.

        Raises DataError if the file is not an evaluation, or if the two files do not belong together.
        """
        file = _file(path)
        plain = read_valid(file, "evaluation")
        archive = file.parent / RESULTS
        known = read_archive(archive, file) if archive.exists() else None
        table = None if known is None else known.document_table
        wholes = {
            "micro": value(scores_from_counts(plain["micro"]), score),
            "macro": _macro(plain["macro"], table, score),
            "leaves": value(scores_from_counts(plain["leaves"]), score),
            "document_quality": plain["document_quality"]["mean"],
        }
        return cls(
            wholes,
            {path: value(scores_from_counts(scores), score) for path, scores in plain["by_path"].items()},
            table,
            plain["failed"],
            plain["signature"]["entries"] | {"version": plain["signature"]["version"]},
            None if known is None else known.clusters or None,
        )


@dataclass(frozen=True, slots=True)
class _Shared:
    """The documents that both evaluations have.

    Attributes:
        score: Name of the score.
        tables: The results of all documents, before and after.
        keys: Row of each document in `tables`, by name.
        names: Names of the shared documents.
        rows: Their rows in `tables`, in the same order.
        clusters: Cluster of each shared document; None if each document is a unit.
        by_run: Whether each cluster consists of the runs of one document.
    """

    score: str
    tables: tuple[DocumentTable, DocumentTable]
    keys: tuple[dict[str, int], dict[str, int]]
    names: list[str]
    rows: tuple[Indices, Indices]
    clusters: list[str] | None
    by_run: bool

    @classmethod
    def of(cls, first: _Side, second: _Side, score: str) -> Self | None:
        """Find the shared documents: by id, and by run if an evaluation has several runs of a document.

        Returns None if a side has no results of documents. Raises DataError if no document is shared or the clusters
        differ.
        """
        if not first.documents or not second.documents:
            return None
        tables = first.documents, second.documents
        several = any(len(frozenset(table.ids)) < len(table) for table in tables)
        before, after = (
            {name: row for row, name in enumerate(table.keys if several else table.ids)} for table in tables
        )
        keys = before, after
        names = [key for key in keys[0] if key in keys[1]]
        rows = (
            np.array([keys[0][key] for key in names], dtype=np.intp),
            np.array([keys[1][key] for key in names], dtype=np.intp),
        )
        if not names:
            raise _nothing_shared(tables)
        ids = [document.id for document in tables[0].at(rows[0])]
        (clusters, by_run), (others, _) = (
            assign_clusters(ids, None if side.clusters is None else [side.clusters[row] for row in own.tolist()])
            for side, own in zip((first, second), rows, strict=True)
        )
        pairs = set(zip(clusters or names, others or names, strict=True))
        if not len(set(clusters or names)) == len(set(others or names)) == len(pairs):
            raise different_clusters("both evaluations")
        return cls(score, tables, keys, names, rows, clusters, by_run)

    def _sample(self, side: int, tallies: Floats) -> Sample:
        """Return these tallies of the shared documents of a side, shape (documents, 5), for a test."""
        failed = self.tables[side].failed[self.rows[side]]
        return Sample.of(map(str, range(len(failed))), tallies, failed, self.clusters)

    def wholes(self) -> tuple[dict[str, TestedChange], tuple[str, ...]]:
        """Return the tested scores of the corpus, and notes."""
        both = list(zip(self.tables, self.rows, strict=True))
        tallies = [table.entries.floats(rows=rows) for table, rows in both]
        qualities = [table.qualities[rows] for table, rows in both]
        graded = [
            np.stack([np.ones_like(one), np.ones_like(one), np.ones_like(one), one, one**2], 1) for one in qualities
        ]
        samples = [[self._sample(side, one[side]) for side in (1, 0)] for one in (tallies, graded)]
        values: dict[str, list[float | None]] = {
            "micro": [value(Scores(sum_tallies(one)), self.score) for one in tallies],
            "macro": [estimate(sample, self.score, "macro") for sample in reversed(samples[0])],
            "document_quality": [float(one.mean()) for one in qualities],
        }
        tests = [
            *_tests(samples[:1], self.score, "micro"),
            *_tests(samples[:1], self.score, "macro"),
            *_tests(samples[1:], "irq", "macro"),
        ]
        adjusted = holm([test.p for test in tests])
        changes = {
            name: TestedChange(name, before, after).tested(p)
            for (name, (before, after)), p in zip(values.items(), adjusted, strict=True)
        }
        alpha, known = threshold(LEVEL), [test for test in tests if test.p is not None]
        few = all(test.smallest_p > alpha / len(known) for test in known) and any(test.differing for test in known)
        partial = any(len(table) > len(rows) for table, rows in both)
        units = "documents" if self.clusters is None or self.by_run else "clusters"
        notes = [
            *[(RUNS if self.by_run else CLUSTERS).format(len(set(self.clusters or ())))] * (self.clusters is not None),
            *[UNDEFINED] * (len(known) < len(tests)),
            *[TOO_FEW.format(units, max(test.differing for test in known), alpha)] * few,
            *[SHARED.format(len(self.rows[0]))] * partial,
        ]
        return changes, tuple(notes)

    def paths(self) -> tuple[TestedChange, ...]:
        """Return the changed paths with their tests. Paths without any difference cannot be significant."""
        samples = {}
        for path in [path for path in self.tables[0].paths if path in self.tables[1].paths]:
            tallies = [table.path_tallies(path)[rows] for table, rows in zip(self.tables, self.rows, strict=True)]
            if not np.array_equal(tallies[0], tallies[1]):
                samples[path] = tallies
        weighed = [
            [weigh_for_beta(self._sample(side, tallies[side]), self.score) for side in (1, 0)]
            for tallies in samples.values()
        ]
        pairs, score = [(after[0], before[0]) for after, before in weighed], weighed[0][0][1] if weighed else self.score
        values = [
            {path: value(Scores(sum_tallies(tallies[side])), self.score) for path, tallies in samples.items()}
            for side in (0, 1)
        ]
        adjusted = dict(zip(samples, holm_of_pairs(pairs, score), strict=True))
        return tuple(change.tested(adjusted[change.name]) for change in _changed(*values))

    def documents(self) -> tuple[ScoreChange, ...]:
        """Return the changed documents."""
        scores = [
            {
                name: 0.0 if document.failed else value(document.scores, self.score)
                for name, document in zip(self.names, table.at(rows), strict=True)
            }
            for table, rows in zip(self.tables, self.rows, strict=True)
        ]
        return tuple(ScoreChange(one.name, one.before, one.after) for one in _changed(*scores))

    def newly_failed(self) -> tuple[str, ...]:
        """Return the names of the documents that failed only after the change."""
        failed = [table.failed[rows] for table, rows in zip(self.tables, self.rows, strict=True)]
        return tuple(sorted(self.names[at] for at in (failed[1] & ~failed[0]).nonzero()[0].tolist()))


def _macro(means: Mapping[str, float | None], documents: DocumentTable | None, score: str) -> float | None:
    """Return the per-document mean of a score. Raises DataError if it requires unknown results of documents."""
    if score in means:
        return means[score]
    if documents is None:
        raise DataError.of(
            f"Expected results of single documents for the mean of {score}, got an evaluation without them",
            hint="Compare the folders that `arbitre evaluate --out` has written.",
        )
    rows = map(str, range(len(documents)))
    return estimate(Sample.of(rows, documents.tallies, documents.failed), score, "macro")


def _tests(families: Sequence[Sequence[Sample]], score: str, average: Average) -> list[Difference]:
    """Test the change of a score in families, each with the samples after and before."""
    weighed = [[weigh_for_beta(sample, score) for sample in samples] for samples in families]
    samples = [[sample for sample, _ in family] for family in weighed]
    return contrasts(samples, [[(0, 1)]] * len(samples), weighed[0][0][1], average=average)


def _nothing_shared(tables: tuple[DocumentTable, DocumentTable]) -> DataError:
    """Return the error about evaluations without a common document."""
    before, after = map(quote_names, (table.keys for table in tables))
    ids = [frozenset(table.ids) for table in tables]
    if ids[0].isdisjoint(ids[1]):
        return DataError.of(
            f"The evaluations have no document in common: the first has {before}, the second {after}",
            hint="Evaluate predictions for the same gold documents.",
        )
    several = [len(table) > len(own) for table, own in zip(tables, ids, strict=True)]
    reason = "One evaluation has several runs of a document. " * (several[0] != several[1])
    return DataError.of(
        f"The evaluations have the same documents, but no run in common: the first has {before}, the second {after}",
        hint=f"{reason}Evaluate the same runs in both.",
    )


def _changed(before: Mapping[str, float | None], after: Mapping[str, float | None]) -> tuple[TestedChange, ...]:
    changes = [TestedChange(name, before[name], after[name]) for name in before if name in after]
    moved = [
        change
        for change in changes
        if (change.before is None) != (change.after is None) or abs(change.difference or 0.0) > SCORE_TOLERANCE
    ]
    return tuple(sorted(moved, key=lambda change: (change.difference or 0.0, change.name)))


def _file(path: str | Path) -> Path:
    """Return the `evaluation.json` in a folder, or the path itself. Raises DataError if a folder has no such file."""
    inside = Path(path) / EVALUATION
    if Path(path).is_dir() and not inside.is_file():
        raise DataError.of(
            f"Expected {EVALUATION} in the folder, got none",
            file=str(path),
            hint=f"Pass the {EVALUATION} that `arbitre evaluate --out` writes.",
        )
    return inside if inside.is_file() else Path(path)
