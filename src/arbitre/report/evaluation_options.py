"""Options for evaluating a corpus and writing the results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from arbitre.corpus.results import tables
from arbitre.corpus.running.executors import Engine, choose_executor
from arbitre.errors import OptionError
from arbitre.report.html.language import Language
from arbitre.report.tables.exports import Export, parse_exports
from arbitre.tables.csv_text import CsvDialect, CsvDialectName
from arbitre.tables.table import unknown
from arbitre.tally import NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from arbitre.corpus.joining.provenance import Provenance
    from arbitre.corpus.running.executors import Executor


@dataclass(frozen=True, kw_only=True)
class EvaluationOptions:
    """Options for evaluating a corpus and writing the results.

    Attributes:
        out: Folder of the results; None writes no files.
        resume: Whether to continue an interrupted evaluation in the same folder.
        force: Whether to write to a folder that contains other files, beside them.
        strict: Whether to stop at the first failed document.
        validate: Whether to list the schema violations of predictions.
        flat: Whether to match the leaves of each path regardless of entries, and to compute the solidarity of the
            values. Included in `diagnose`.
        diagnose: Whether to list the faults of predictions and what they cost.
        source: Folder of the texts that were given to the model, `<id>.txt`, in which to search for missing and
            spurious values; requires `diagnose`.
        cluster_by: How to group documents that belong together: a manifest column, a JSON Pointer into gold, or a
            regular expression on ids.
        workers: Number of worker processes; None for the number of processors.
        engine: Where documents are compared: "local", or "dask" for a Dask cluster.
        scheduler: Address of the Dask scheduler.
        no_report: Whether to write no report.
        no_chance: Whether to compute no chance scores.
        keep: Number of documents that the report shows entry by entry; None for as many as fit.
        lang: Language of the report.
        table: Names of further tables to write to `out`, such as "paths.tex" or "documents.parquet".
        score: Score columns of these tables in Markdown and LaTeX; if empty, f1q, imq, irq and amq.
        provenance: Provenance of the gold, instead of its sidecar: a `Provenance`, or a file in the same format.
        csv_dialect: Notation of the CSV files: "standard" (comma, decimal point), or "excel-fr" for spreadsheets in
            French (semicolon, decimal comma, byte-order mark).

    Raises:
        OptionError: Options contradict each other, or a table or a score is unknown.
    """

    out: Path | None = None
    resume: bool = False
    force: bool = False
    strict: bool = False
    validate: bool = False
    diagnose: bool = False
    source: str | Path | None = None
    flat: bool = False
    cluster_by: str | None = None
    workers: int | None = None
    engine: Engine = "local"
    scheduler: str | None = None
    no_report: bool = False
    no_chance: bool = False
    keep: int | None = None
    lang: Language = Language.EN
    table: Sequence[str] = ()
    score: Sequence[str] = ()
    provenance: Provenance | str | Path | None = None
    csv_dialect: CsvDialectName = "standard"

    def __post_init__(self) -> None:
        CsvDialect.named(self.csv_dialect)
        Language.named(self.lang)
        self.executor  # noqa: B018  (checks the options)
        if self.resume and self.out is None:
            raise OptionError.of("`resume` requires `out`: the folder of the interrupted evaluation.")
        if self.source is not None and not self.diagnose:
            raise OptionError.of("`source` requires `diagnose`, which lists the faults.")
        if self.score and not self.table:
            raise OptionError.of("`score` requires `table`: the scores are columns of the tables.")
        for score in self.score:
            if score not in NAMES:
                raise unknown("column", score, NAMES)
        for export in self.exports:
            if export.rows == "groups" and self.cluster_by is None:
                raise OptionError.of(f"`table` {export.name} requires `cluster_by`, which defines the groups.")
            if export.rows == "faults" and not self.diagnose:
                raise OptionError.of(f"`table` {export.name} requires `diagnose`, which lists the faults.")

    @property
    def executor(self) -> Executor:
        """A new executor for these options."""
        return choose_executor(self.engine, self.scheduler, self.workers)

    @property
    def exports(self) -> tuple[Export, ...]:
        """The further tables. Raises DataError if one is unknown."""
        return parse_exports(self.table, tables.ROWS, self.out)
