"""`Evaluation`: the results of a corpus with their tables, files and report."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from arbitre.corpus.results import dataframe
from arbitre.corpus.results import evaluation as corpus
from arbitre.corpus.results.gates import gate, require
from arbitre.corpus.storage.output_folder import output_folder
from arbitre.corpus.storage.temporary import TemporaryFolder
from arbitre.errors import DataError, did_you_mean
from arbitre.report.documents.worst_documents import ALIGNMENTS
from arbitre.report.file_names import REPORT
from arbitre.report.html.language import Language
from arbitre.report.tables import result_files
from arbitre.tables.table import Table
from arbitre.text.corpus_scores import KINDS, ValuePair, score_segmentations, score_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.classification import Classification
    from arbitre.comparison.flat import FlatComparison
    from arbitre.comparison.leaf_pairs import LeafPair
    from arbitre.report.value_source import ValueSource
    from arbitre.tally import Scores
    from arbitre.text.corpus_scores import SegmentationScores, TextScores
    from arbitre.values import Json

TABLES: Final = ("documents", "paths", "matches", "faults")
"""Names of the tables of an evaluation."""

FILES: Final = (*result_files.FILES, ALIGNMENTS, REPORT)
"""Files of the results; files without content are not written."""


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(corpus.Evaluation):
    """Results of a corpus, with their tables, files and report.

    The figures of single entries (the table of matches, the report) come from a folder of results. If the evaluation
    was not written to one, the documents are compared again when these figures are first used. Do not modify the
    documents until then.

    An evaluation can be pickled, with the documents if they are in memory. Documents that are read from files are not
    pickled: the figures of single entries are then only available if `folder` contains them.
    """

    files: tuple[str, ...] = ()
    """Names of the files written to `folder`."""
    folder: Path | None = field(default=None, repr=False)
    """Folder of the results, if they were written."""
    writer: Callable[[corpus.Evaluation, Path, bool], tuple[str, ...]] | None = field(default=None, repr=False)
    """Writes all files of the results to a folder, with the table of faults if the last argument is true.

    None if the documents are no longer available.
    """

    flat_again: Callable[[corpus.Evaluation], FlatComparison | None] | None = field(default=None, repr=False)
    """Computes the flat comparison; None if the documents are no longer available."""
    values: ValueSource | None = field(default=None, repr=False)
    """Reads the values at a path; None if the documents are no longer available."""

    def table(self, name: str = "documents") -> Table:
        """Return a table of the results.

        Args:
            name: "documents" (one row per document), "paths" (one row per path), "matches" (one row per entry, with
                the values of gold and prediction as in `matches.csv`) or "faults" (see `faults`).

        Raises:
            DataError: There is no such table, or the documents are no longer available for the table of matches or
                of faults.
        """
        if name == "documents":
            return Table.of_frame(dataframe.document_frame(self.document_table, self.signature))
        if name == "paths":
            return Table.of_frame(dataframe.path_frame(self.by_path, self.signature))
        if name == "matches":
            return Table.of_frame(result_files.read_table(self.details / result_files.MATCHES))
        if name == "faults":
            return self.faults()
        raise DataError.of(
            f"Expected a table, got {name!r}", hint=did_you_mean(name, TABLES) or f"Choose one of: {', '.join(TABLES)}."
        )

    def faults(self) -> Table:
        """Return the table of faults: one row for each leaf or item that is not correct, as in `faults.csv`.

        If the evaluation did not list them (`diagnose`), the documents are compared again.

        Raises:
            DataError: The documents are no longer available.
        """
        folder = self.folder
        written = self.diagnosis is not None and folder is not None and (folder / result_files.FAULTS).exists()
        if folder is None or not written or not result_files.holds(folder, self):
            folder = self.details if self.diagnosis is not None else self._diagnosed.path
        return Table.of_frame(result_files.read_table(folder / result_files.FAULTS))

    @property
    def solidarity(self) -> float | None:
        """Share of the leaf quality of the best flat matching that is reached by values in their own entries.

        In [0, 1]; None under transport (see `arbitre.comparison.flat.FlatComparison`). If it was not computed in the
        evaluation (`diagnose` or `flat`), the documents are compared again.

        Raises:
            DataError: The documents are no longer available.
        """
        return self._flat.solidarity

    @property
    def flat(self) -> Scores:
        """Pooled scores over all leaves in the best flat matching, which ignores entries; see `solidarity`."""
        return self._flat.flat

    @property
    def flat_by_path(self) -> Mapping[str, Scores]:
        """Pooled scores of the best flat matching by wildcard path; see `solidarity`."""
        return self._flat.flat_by_path

    @cached_property
    def _flat(self) -> FlatComparison:
        flat = self.flat_comparison
        if flat is None and self.flat_again is not None:
            flat = self.flat_again(self)
        if flat is None:
            raise _unavailable()
        return flat

    def to_arrow(self, table: str = "documents") -> Any:  # noqa: ANN401  (pyarrow is optional)
        """Return a table as a `pyarrow.Table`; see `table`. Raises DataError if pyarrow is not installed."""
        return self.table(table).to_arrow()

    def to_pandas(self, table: str = "documents") -> Any:  # noqa: ANN401  (pandas is optional)
        """Return a table as a `pandas.DataFrame`; see `table`. Raises DataError if pandas is not installed."""
        return self.table(table).to_pandas()

    def to_polars(self, table: str = "documents") -> Any:  # noqa: ANN401  (polars is optional)
        """Return a table as a `polars.DataFrame`; see `table`. Raises DataError if Polars is not installed."""
        return self.table(table).to_polars()

    def classification(self, path: str, labels: Sequence[Json] | None = None) -> Classification:
        """Return the confusion matrix of the values at a path of all documents, with the scores of each class.

        The documents are compared again. See `Comparison.classification`.

        Args:
            path: Wildcard path of single values, such as "/people/*/role".
            labels: The labels to report, in order; by default, all that occur, sorted.

        Raises:
            DataError: No single value was compared at the path, or the documents are no longer available.
        """
        from arbitre.comparison.value_classes import classify  # noqa: PLC0415  (most evaluations do not need it)

        rows, matched_by = self._value_source.rows(path)
        return classify(rows, path, self.by_path, labels, matched_by)

    def text(self, path: str, kinds: Sequence[str] = KINDS) -> TextScores:
        """Return ROUGE, BLEU and chrF of the texts at a path. The documents are compared again.

        BLEU and chrF are scores of the corpus, ROUGE is a mean over the gold texts. A missing text counts as an empty
        text. If gold has a list of accepted readings in place of a text, all of them are references.

        Args:
            path: Wildcard path of texts, such as "/summary" or "/pages/*/abstract".
            kinds: Kinds of ROUGE, as for `arbitre.text.rouge`.

        Raises:
            DataError: There are no gold texts at the path, the documents are no longer available, or rouge-score is
                not installed.
            SchemaError: sacrebleu is not installed.
        """
        return score_texts(self._value_pairs(path), kinds)

    def segmentation(self, path: str, k: int | None = None) -> SegmentationScores:
        """Return WindowDiff, Pk and the generalised Hamming distance of all segmentations at a path.

        The documents are compared again.

        Args:
            path: Wildcard path of segmentations, which must be compared as single values: give them a distance such as
                `window-diff`.
            k: Number of positions of a window; by default half of the mean segment of each gold segmentation.

        Raises:
            DataError: There are no gold segmentations at the path, or the documents are no longer available.
        """
        return score_segmentations(self._value_pairs(path), k)

    def leaf_pairs(self, path: str) -> list[LeafPair]:
        """Return the pairs of gold and predicted leaves at a wildcard path. The documents are compared again.

        Raises:
            DataError: The documents are no longer available.
        """
        return self._value_source.leaf_pairs(path)

    @property
    def _value_source(self) -> ValueSource:
        if self.values is None:
            raise _unavailable()
        return self.values

    def _value_pairs(self, path: str) -> list[ValuePair]:
        return [ValuePair(pair.gold, pair.predicted) for pair in self.leaf_pairs(path)]

    def report(self, path: str | Path, *, language: str = "en") -> None:
        """Write the report as one HTML page.

        Args:
            path: File of the page. An existing file is replaced only if arbitre wrote it.
            language: "en" or "fr".

        Raises:
            OptionError: The language is unknown.
            DataError: The documents are no longer available, or the file cannot be written.
        """
        from arbitre.report.report_files import read_view, write_page  # noqa: PLC0415  (loads the HTML report)

        chosen = Language.named(language)
        write_page(Path(path), read_view([self.details / result_files.EVALUATION]), chosen, single=True)

    def save(self, folder: str | Path, *, force: bool = False) -> tuple[str, ...]:
        """Write the files that `arbitre evaluate --out` writes; `arbitre.load` reads them again.

        Args:
            folder: Folder of the results: new, empty, or with earlier results.
            force: Whether to write to a folder that contains other files, beside them.

        Returns:
            The names of the files.

        Raises:
            DataError: The documents are no longer available, a file cannot be written, or the folder contains files
                that arbitre did not write.
        """
        target = Path(folder)
        if target.resolve() == self.details.resolve():
            return tuple(name for name in FILES if (target / name).exists())
        with output_folder(target, FILES, inputs=[self.details], force=force) as staging:
            return copy_results(self, staging)

    def assert_at_least(
        self, *, paths: Mapping[str, float | Mapping[str, float]] | None = None, **scores: float
    ) -> None:
        """Raise an error if a score is below its minimum; for tests.

        Args:
            paths: Minimum f1q by path, or minimum scores by path: `{"/people/*/name": {"irq": 0.8}}`.
            **scores: Minimum of each measure, as in `gate`: `f1q=0.9`, `document_quality=0.9`, `**{"macro.f1q": 0.9}`.

        Raises:
            QualityGateError: A score is below its minimum. The error is also an AssertionError and names each one.
            DataError: A score or path is unknown.

        >>> import arbitre
        >>> evaluation = arbitre.Comparator({"type": "string"}).evaluate([("a", "yes", "yes"), ("b", "yes", "no")])
        >>> evaluation.assert_at_least(f1q=0.2)
        >>> evaluation.assert_at_least(f1q=0.9, document_quality=0.5)
        Traceback (most recent call last):
        arbitre.errors.QualityGateError: micro f1q is 0.6250, 0.2750 below 0.9
        """
        bounds = dict(scores)
        for path, least in (paths or {}).items():
            by_score = least if isinstance(least, Mapping) else {"f1q": least}
            bounds |= {f"{path}:{score}": value for score, value in by_score.items()}
        require(gate(self, fail_under=bounds))

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        if self.values is None or not self.values.picklable:
            state |= dict.fromkeys(("writer", "flat_again", "values"))
        return {name: value for name, value in state.items() if name not in _TEMPORARY}

    @property
    def details(self) -> Path:
        """Folder with all files of these results; written now if there is none."""
        folder = self.folder
        if folder is not None and (self.writer is None or (folder / ALIGNMENTS).exists()):
            if result_files.holds(folder, self):
                return folder
            if self.writer is None:
                raise DataError.of(
                    "The folder no longer contains these results", file=str(folder), hint="Load or evaluate again."
                )
        return self._written.path

    @cached_property
    def _written(self) -> TemporaryFolder:
        """Temporary folder with all files of these results, deleted with this object."""
        return self._write(diagnose=self.diagnosis is not None)

    @cached_property
    def _diagnosed(self) -> TemporaryFolder:
        """Temporary folder with the table of faults, deleted with this object."""
        return self._write(diagnose=True)

    def _write(self, *, diagnose: bool) -> TemporaryFolder:
        if self.writer is None:
            raise _unavailable()
        folder = TemporaryFolder()
        self.writer(self, folder.path, diagnose)
        return folder


def copy_results(evaluation: Evaluation, folder: Path) -> tuple[str, ...]:
    """Copy the files of the results to a folder (see `output_folder`) and return their names."""
    names = tuple(name for name in FILES if (evaluation.details / name).exists())
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        shutil.copyfile(evaluation.details / name, folder / name)
    return names


def _unavailable() -> DataError:
    return DataError.of(
        "The documents of this evaluation are no longer available",
        hint="Pass them as a list instead of an iterator, or write the results with `out`.",
    )


_COMPUTED: Final = {name for name, value in vars(corpus.Evaluation).items() if isinstance(value, cached_property)}
"""Names of the attributes that are computed on first access."""


_TEMPORARY: Final = ("_written", "_diagnosed")
"""Names of the attributes that are temporary folders of this process."""

E = TypeVar("E", bound=Evaluation)


def extend(results: corpus.Evaluation, **more: Any) -> Evaluation:  # noqa: ANN401  (the values of any fields)
    """Return the results of a corpus with the values of further fields; what is already computed is kept."""
    return extend_to(Evaluation, results, **more)


def extend_to(kind: type[E], results: corpus.Evaluation, **more: Any) -> E:  # noqa: ANN401  (the values of any fields)
    """Return the results like `extend`, as an object of a class with further fields."""
    made = kind(**{attribute.name: getattr(results, attribute.name) for attribute in fields(results)} | more)
    vars(made).update({name: value for name, value in vars(results).items() if name in _COMPUTED})
    return made
