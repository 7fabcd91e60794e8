"""Output of `arbitre rank`: rankings of systems and comparisons of factor levels."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from rich.text import Text

from arbitre.cli.output import result_tables
from arbitre.cli.output.console import counted
from arbitre.corpus.tables import AVERAGES
from arbitre.report.build_view import ranked
from arbitre.report.language import Language, Translator
from arbitre.report.ranking_files import FactorsResults, RankingResults
from arbitre.report.wording import detectable, lead, sampled
from arbitre.signature import Signature
from arbitre.statistics.paired_tests import threshold
from arbitre.systems.tables import OWN_INTERVAL
from arbitre.tables.terminal import MAX_SHOWN, escape_hidden, render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from arbitre.statistics.intervals import Interval

_DIFFERENCE: Final = (
    "The interval of a difference comes from the test: it excludes 0 if the difference is significant. "
    "detectable: smallest true difference that would be found with a probability of 80%."
)

_CHANCE: Final = (
    "chance: score of predictions compared with the gold of other documents; not subtracted from any score."
)


@dataclass(frozen=True, slots=True)
class RankingOutput(RankingResults):
    """A ranking and its terminal output."""

    def blocks(self, width: int) -> Iterator[RenderableType]:
        """Yield the blocks of the terminal output."""
        ranking, tables, say = self.ranking, self.tables, Translator(Language.EN)
        systems = asdict(ranked(ranking.to_dict()))
        yield Text.assemble(
            (f"{counted(len(ranking.systems), 'system')} on the same {sampled(systems['sampled'], say)}", "bold"),
            f"\n{AVERAGES[ranking.aggregate]} {ranking.score}; {100.0 * ranking.level:g}% intervals of the "
            "differences to the best system",
            f"\n{escape_hidden(ranking.provenance.headline())}",
        )
        absent = OWN_INTERVAL if ranking.pairs else ("to best", "low", "high")
        yield render(tables.pop("systems").without(*absent), width)
        for found in (lead(systems, say), detectable(systems, say)):
            if found:
                yield Text(found)
        legend = [_CHANCE]
        if ranking.pairs:
            letters = (
                "Systems that share a letter do not differ significantly "
                f"(p > {threshold(ranking.level):g}, adjusted by {ranking.pairs[0].correction})."
            )
            legend = [letters, *legend, _DIFFERENCE]
        yield Text("\n".join((*legend, *ranking.notes)), style="dim")
        for name in ("scores", "pairs", "winners"):
            table = tables.pop(name)
            if len(ranking.systems) > 1 and table.defined and (name != "scores" or len(table.columns) > 3):  # noqa: PLR2004
                yield render(table, width)
        yield from (render(table, width, most=MAX_SHOWN) for table in tables.values() if table.defined)
        yield result_tables.signature(Signature.from_dict(ranking.signature))


@dataclass(frozen=True, slots=True)
class FactorsOutput(FactorsResults):
    """Comparisons of factor levels and their terminal output."""

    def blocks(self, width: int) -> Iterator[RenderableType]:
        """Yield the blocks of the terminal output."""
        first = self.factors[0]
        yield Text.assemble(
            (
                f"{counted(len(self.factors), 'factor')} of {counted(sum(first.documents.values()), 'prediction')}",
                "bold",
            ),
            f"\n{AVERAGES[first.aggregate]} {first.score}, {_interval(next(iter(first.levels.values())))}",
            f"\n{escape_hidden(self.provenance.headline())}",
        )
        yield from (render(table, width) for table in self.tables.values() if table.defined)
        if not self.tables["pairs"].defined and self.tables["pairs"].size:
            yield Text(Translator(Language.EN)("shared.none"))
        unbalanced = [
            f"{one.name} is unbalanced: its levels cover different documents. Only shared documents are compared."
            for one in self.factors
            if not one.balanced
        ]
        notes = dict.fromkeys(note for one in self.factors for note in one.notes)
        yield Text("\n".join((*unbalanced, *notes)), style="dim")
        yield result_tables.signature(self.signature)


def _interval(found: Interval) -> str:
    return f"{100.0 * found.level:g}% confidence intervals ({found.method}), seed {found.seed}"
