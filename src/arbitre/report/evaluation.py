"""`Evaluation`: the results of a corpus with their tables, files and report."""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Final

from arbitre.corpus.results import dataframe
from arbitre.corpus.results import evaluation as corpus
from arbitre.corpus.results.data_table import DataTable
from arbitre.corpus.results.gates import gate, require
from arbitre.corpus.storage.files import atomic_file
from arbitre.errors import DataError, did_you_mean
from arbitre.report.documents.worst_documents import ALIGNMENTS
from arbitre.report.html.language import Language
from arbitre.report.report_files import REPORT, read_view, write_page
from arbitre.report.tables import result_files
from arbitre.text.corpus_scores import KINDS, ValuePair, score_segmentations, score_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.comparison.leaf_pairs import LeafPair
    from arbitre.text.corpus_scores import SegmentationScores, TextScores

TABLES: Final = ("documents", "paths", "matches")
"""Names of the tables of an evaluation."""
FILES: Final = (*result_files.FILES, ALIGNMENTS, REPORT)
"""Files of the results; files without content are not written."""


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(corpus.Evaluation):
    """Results of a corpus, with their tables, files and report.

    The figures of single entries (the table of matches, the report) come from a folder of results. If the evaluation
    was not written to one, the documents are compared again when these figures are first used. Do not modify the
    documents until then.
    """

    files: tuple[str, ...] = ()
    """Names of the files written to `folder`."""
    folder: Path | None = field(default=None, repr=False)
    """Folder of the results, if they were written."""
    writer: Callable[[corpus.Evaluation, Path], tuple[str, ...]] | None = field(default=None, repr=False)
    """Writes all files of the results to a folder; None if the documents are no longer available."""
    leaf_source: Callable[[str], list[LeafPair]] | None = field(default=None, repr=False)
    """Compares again and returns the pairs of leaves at a path; None if the documents are no longer available."""

    def table(self, name: str = "documents") -> DataTable:
        """Return a table of the results.

        Args:
            name: "documents" (one row per document), "paths" (one row per path) or "matches" (one row per entry, with
                the values of gold and prediction as in `matches.csv`).

        Raises:
            DataError: There is no such table, or the documents are no longer available for the table of matches.
        """
        if name == "documents":
            return DataTable(dataframe.document_frame(self.document_table, self.signature))
        if name == "paths":
            return DataTable(dataframe.path_frame(self.by_path, self.signature))
        if name == "matches":
            return DataTable(result_files.read_matches(self.details / result_files.MATCHES))
        raise DataError.of(
            f"Expected a table, got {name!r}", hint=did_you_mean(name, TABLES) or f"Choose one of: {', '.join(TABLES)}."
        )

    def to_arrow(self, table: str = "documents") -> Any:  # noqa: ANN401  (pyarrow is optional)
        """Return a table as a `pyarrow.Table`; see `table`. Raises DataError if pyarrow is not installed."""
        return self.table(table).to_arrow()

    def to_pandas(self, table: str = "documents") -> Any:  # noqa: ANN401  (pandas is optional)
        """Return a table as a `pandas.DataFrame`; see `table`. Raises DataError if pandas is not installed."""
        return self.table(table).to_pandas()

    def to_polars(self, table: str = "documents") -> Any:  # noqa: ANN401  (polars is optional)
        """Return a table as a `polars.DataFrame`; see `table`. Raises DataError if Polars is not installed."""
        return self.table(table).to_polars()

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
        if self.leaf_source is None:
            raise DataError.of(
                "The documents of this evaluation are no longer available",
                hint="Evaluate again, and pass the documents as a list or as paths.",
            )
        return self.leaf_source(path)

    def _value_pairs(self, path: str) -> list[ValuePair]:
        return [ValuePair(pair.gold, pair.predicted) for pair in self.leaf_pairs(path)]

    def report(self, path: str | Path, *, language: str = "en") -> None:
        """Write the report as one HTML page.

        Args:
            path: File of the page.
            language: "en" or "fr".

        Raises:
            OptionError: The language is unknown.
            DataError: The documents are no longer available, or the file cannot be written.
        """
        chosen = Language.named(language)
        write_page(Path(path), read_view([self.details / result_files.EVALUATION]), chosen)

    def save(self, folder: str | Path) -> tuple[str, ...]:
        """Write the files that `arbitre evaluate --out` writes; `arbitre.load` reads them again.

        Args:
            folder: Folder of the results.

        Returns:
            The names of the files.

        Raises:
            DataError: The documents are no longer available, or a file cannot be written.
        """
        source, target = self.details, Path(folder)
        names = tuple(name for name in FILES if (source / name).exists())
        if target.resolve() != source.resolve():
            for name in names:
                with atomic_file(target / name) as part:
                    shutil.copyfile(source / name, part)
            for name in {*FILES} - {*names}:  # of an earlier evaluation
                (target / name).unlink(missing_ok=True)
        return names

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
        if self.writer is None:
            raise DataError.of(
                "The documents of this evaluation are no longer available",
                hint="Pass them as a list instead of an iterator, or write the results with `out`.",
            )
        return self._written

    @cached_property
    def _written(self) -> Path:
        """Temporary folder with all files of these results, deleted with this object."""
        folder = Path(mkdtemp(prefix="arbitre-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        if self.writer is not None:
            self.writer(self, folder)
        return folder


_COMPUTED: Final = {name for name, value in vars(corpus.Evaluation).items() if isinstance(value, cached_property)}
"""Names of the attributes that are computed on first access."""


def extend(found: corpus.Evaluation, **more: Any) -> Evaluation:  # noqa: ANN401  (the values of any fields)
    """Return the results of a corpus with the values of further fields; what is already computed is kept."""
    made = Evaluation(**{one.name: getattr(found, one.name) for one in fields(found)} | more)
    vars(made).update({name: value for name, value in vars(found).items() if name in _COMPUTED})
    return made
