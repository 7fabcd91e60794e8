"""Options for evaluating a corpus and writing the results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from arbitre.corpus import tables
from arbitre.corpus.executors import choose_executor
from arbitre.errors import OptionError
from arbitre.jobs.result_files import FAULTS, MATCHES, Export, parse_exports
from arbitre.language import Language
from arbitre.tables.csv_text import CsvDialect
from arbitre.tables.table import unknown_column
from arbitre.tally import NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from arbitre.corpus.executors import Executor
    from arbitre.inputs.provenance import Provenance
    from arbitre.options import CsvDialectName, Engine
    from arbitre.tables.row_file import Form


@dataclass(frozen=True, kw_only=True)
class EvaluationOptions:
    """Options for evaluating a corpus and writing the results.

    Raises:
        OptionError: Options contradict each other, or a table or a score is unknown.
    """

    # from arbitre.options: Evaluation, Corpus, Processes, ReportFiles
    validate: bool = False
    """List schema violations in the predictions."""
    flat: bool = False
    """Match the values at each path across entries. On the command line, the tables show only the resulting scores."""
    out: Path | None = None
    """Folder for evaluation.json, tables and report.html."""
    resume: bool = False
    """Resume an interrupted evaluation in the same `out` folder."""
    keep_checkpoints: bool = False
    """Keep the results of each part of the corpus in the subfolder documents/ after the evaluation, so that `resume`
    can use them."""
    table: Sequence[str] = ()
    """Additional tables to write to the `out` folder, such as paths.tex: each is a table name followed by .md, .tex,
    .csv or .parquet. For matches and faults, .csv or .parquet sets the format of the table that is written by
    default."""
    table_score: Sequence[str] = ()
    """Scores to show in the Markdown and LaTeX tables."""
    cluster_by: str | None = None
    """How to group dependent documents for intervals and tests: by a manifest column, a JSON Pointer into gold, or a
    regular expression applied to ids."""
    strict: bool = False
    """Stop with an error if a document fails, if gold or the predictions contain none of the keys that the schema
    declares, or if no prediction matches any part of its gold. On the command line, the exit code is then 2."""
    diagnose: bool = False
    """List the faults of the predictions with their costs (faults.csv), and search up to 400 documents for causes.
    By default, a sixteenth of the documents is searched (less if they are large), but at least 32 and at most 400.
    Each run counts as a document."""
    no_diagnose: bool = False
    """Do not search for causes."""
    no_chance: bool = False
    """Do not compute chance scores."""
    provenance: Provenance | str | Path | None = None
    """Provenance of the gold, instead of its sidecar (GOLD.provenance.json)."""
    source: str | Path | None = None
    """Folder of the sources that were given to the model: for each document, a text (<id>.txt), an image or a PDF
    (.png, .jpg, .pdf and others). The report shows the sources, and `diagnose` searches the texts for missing and
    spurious values."""
    workers: int | None = None
    """Number of worker processes. None means the number of processors."""
    engine: Engine = "local"
    """Where to compare the documents: on this machine or on a Dask cluster."""
    scheduler: str | None = None
    """Address of the Dask scheduler."""
    wait_workers: int = 1
    """Number of cluster workers to wait for before the comparison begins."""
    keep: int | None = None
    """Number of documents that the report shows entry by entry: first those that it links to, then the worst ones.
    None means as many as fit in 1.6 MB."""
    lang: Language = Language.EN
    """Language of the report, the figures, and the tables in the terminal, in Markdown and in LaTeX."""
    no_report: bool = False
    """Do not write report.html and its data files."""
    no_matches: bool = False
    """Do not write the table of entries (matches.csv or matches.parquet)."""
    csv_dialect: CsvDialectName = "standard"
    """CSV dialect: standard, for programs, or excel-fr (semicolons, decimal commas), for spreadsheet programs in
    French."""
    force: bool = False
    """Write even if the destination contains files that arbitre did not write. These files are never replaced."""
    # end of the options

    def __post_init__(self) -> None:
        CsvDialect.named(self.csv_dialect)
        if self.lang is not Language.EN:
            object.__setattr__(self, "lang", Language.named(self.lang))
        self.executor  # noqa: B018  (checks the options)
        if self.resume and self.out is None:
            raise OptionError.of("`resume` requires `out`: the folder of the interrupted evaluation.")
        if self.table_score and not self.table:
            raise OptionError.of("`table_score` requires `table`: the scores are columns of the tables.")
        for score in self.table_score:
            if score not in NAMES:
                raise unknown_column(score, NAMES)
        for export in self.exports:
            if export.rows == "groups" and self.cluster_by is None:
                raise OptionError.of(f"`table` {export.name} requires `cluster_by`, which defines the groups.")
        self.row_forms  # noqa: B018  (as above)

    @property
    def executor(self) -> Executor:
        """A new executor for these options."""
        return choose_executor(self.engine, self.scheduler, self.workers, self.wait_workers)

    @property
    def exports(self) -> tuple[Export, ...]:
        """The further tables. Raises OptionError if one is unknown."""
        return tuple(export for export in self._tables if not export.by_row)

    @property
    def row_forms(self) -> dict[str, Form]:
        """The formats of the tables of entries and of faults that `table` states.

        Raises OptionError if there are several for a table, or if the table is not written.
        """
        forms: dict[str, Form] = {}
        for export in self._tables:
            if export.rows == FAULTS and not self.diagnose:
                raise OptionError.of(f"`table` {export.name} requires `diagnose`, which lists the faults.")
            if export.rows == MATCHES and self.no_matches:
                raise OptionError.of(f"Expected either `table` {export.name} or `no_matches`, got both.")
            if export.by_row and forms.setdefault(export.rows, cast("Form", export.form)) != export.form:
                raise OptionError.of(f"Expected `table` to state one format of the {export.rows}, got two.")
        return forms

    @property
    def _tables(self) -> tuple[Export, ...]:
        return parse_exports(self.table, tables.ROWS, self.out) if self.table else ()
