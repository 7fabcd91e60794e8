"""Results of a comparison of systems or factor levels, as JSON and as tables."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from arbitre.corpus.tables import ExportTable
from arbitre.errors import OptionError
from arbitre.inputs.provenance import UNKNOWN_GOLD, GoldProvenance
from arbitre.parsing.fast_json import json_text
from arbitre.report.exports import CSV, FORMS, Export, write
from arbitre.report.result_files import REPORT
from arbitre.signature import Signature
from arbitre.storage.files import atomic_text_file, is_file_name
from arbitre.systems import tables
from arbitre.tables.csv_text import STANDARD, CsvDialect

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from arbitre.systems.factors import Factor
    from arbitre.systems.ranking import Ranking
    from arbitre.tables.table import Table

FORMAT: Final = "arbitre-factors/1"
RANKING_FORMAT: Final = "arbitre-ranking/1"


@dataclass(frozen=True, slots=True)
class RankingResults:
    """A ranking, as JSON and as tables."""

    name: ClassVar = "ranking"
    rows: ClassVar = ("systems", "scores", "pairs", "winners", "lacking", "runs")

    ranking: Ranking

    def to_dict(self) -> dict[str, Any]:
        """Return JSON that is valid against `schemas/ranking.schema.json`."""
        return {"format": RANKING_FORMAT, **self.ranking.to_dict()}

    @property
    def tables(self) -> dict[str, Table]:
        """Tables by file name."""
        found = {
            "systems": tables.leaderboard(self.ranking),
            "scores": tables.side_by_side(self.ranking),
            "pairs": tables.pairs(self.ranking.pairs),
            "winners": tables.winners(self.ranking),
            "lacking": tables.lacking(self.ranking),
            "runs": tables.runs(self.ranking.stability),
        }
        signature = Signature.from_dict(self.ranking.signature).short
        return {name: replace(table, signature=signature) for name, table in found.items()}


@dataclass(frozen=True, slots=True)
class FactorsResults:
    """Comparisons of factor levels."""

    name: ClassVar = "factors"
    rows: ClassVar = ("levels", "pairs")

    factors: tuple[Factor, ...]
    signature: Signature
    provenance: GoldProvenance = UNKNOWN_GOLD

    def to_dict(self) -> dict[str, Any]:
        """Return JSON that is valid against `schemas/factors.schema.json`."""
        return {
            "format": FORMAT,
            "factors": [one.to_dict() for one in self.factors],
            "signature": self.signature.to_dict(),
            "provenance": self.provenance.to_dict(),
        }

    @property
    def tables(self) -> dict[str, Table]:
        """Tables by file name."""
        found = {"levels": tables.levels(self.factors), "pairs": tables.contrasts(self.factors)}
        return {name: replace(table, signature=self.signature.short) for name, table in found.items()}


def check_system_names(names: Iterable[str]) -> None:
    """Check that the results of each system can have a folder of its own beside the files of the ranking.

    File systems may ignore case and the Unicode form of a name.

    Raises:
        OptionError: A name cannot be that of a folder, or is that of a file of the ranking or of another folder.

    >>> check_system_names(["careful", "Careful"])
    Traceback (most recent call last):
    arbitre.errors.OptionError: Expected names of systems that differ in more than case, got 'careful' and 'Careful'.
    """
    files = {f"{rows}.{form}" for rows in RankingResults.rows for form in FORMS}
    files |= {REPORT, *(f"{RankingResults.name}.{form}" for form in ("json", "md", "tex"))}
    known: dict[str, str] = {}
    for name in names:
        if not is_file_name(name):
            raise OptionError.of(f"Expected names of systems that can be used as folder names, got {name!r}.")
        folder = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
        if folder in files:
            raise OptionError.of(f"The system {name!r} has the name of a file in `out`. Choose another name.")
        if folder in known:
            raise OptionError.of(
                f"Expected names of systems that differ in more than case, got {known[folder]!r} and {name!r}."
            )
        known[folder] = name


def write_results(
    folder: Path, found: RankingResults | FactorsResults, asked: Iterable[Export], dialect: CsvDialect = STANDARD
) -> tuple[str, ...]:
    """Write the results as JSON, all tables as Markdown and LaTeX, each table as CSV, and the requested exports.

    Returns:
        The names of the files.
    """
    made = found.tables
    shown = [table for table in made.values() if table.size]
    texts = {
        f"{found.name}.json": json_text(found.to_dict()),
        f"{found.name}.md": "\n".join(f"## {table.title}\n\n{table.markdown()}" for table in shown),
        f"{found.name}.tex": "\n".join(f"% {table.title}\n{table.latex()}" for table in shown),
    }
    for name, text in texts.items():
        with atomic_text_file(folder / name) as file:
            file.write(text)
    exported = dict.fromkeys((*(Export(name, CSV) for name in made), *asked))
    sheets = {name: ExportTable.of(table) for name, table in made.items()}
    return (*texts, *write(folder, exported, sheets, dialect))
