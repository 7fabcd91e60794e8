r"""Tables for papers: Markdown, LaTeX (`booktabs`), CSV; the same rows are shown on terminals.

The LaTeX is a bare `tabular`, to be put into a `table` with a caption; it needs `\usepackage{booktabs}`.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from arbitre.corpus.clusters import labels
from arbitre.errors import DataError, did_you_mean
from arbitre.report.tables import COUNTS, cell
from arbitre.report.text import visible
from arbitre.tally import NAMES, MacroScores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from arbitre.corpus.clusters import Cluster
    from arbitre.corpus.evaluation import Document, Evaluation
    from arbitre.corpus.factors import Factor
    from arbitre.corpus.ranking import Ranking, Versus
    from arbitre.corpus.stability import Stability

Kind: TypeAlias = Literal["markdown", "latex", "csv"]
Rows: TypeAlias = Literal["documents", "paths", "scores"]
Cell: TypeAlias = str | float | None
Row: TypeAlias = "tuple[Cell, ...]"

SHOWN: Final = ("f1q", "imq", "irq", "amq")
NONE: Final = "–"
"""What stands where there is no value."""

_MARKDOWN: Final = re.compile(r"([\\`*_\[\]<>|#~])")
_LATEX: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        NONE: "--",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    }
)


@dataclass(frozen=True, slots=True)
class Column:
    """What a column is called, and how its cells are written; those that are no text stand to the right."""

    name: str
    written: Callable[[Cell], str] | None = None

    def text(self, value: Cell) -> str:
        if value is None:
            return NONE
        return str(value) if self.written is None else self.written(value)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns, each cell a text or a number, None where there is no value."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    @property
    def texts(self) -> list[list[str]]:
        """The cells as they are read by people: scores with four decimals."""
        return [[column.text(one) for column, one in zip(self.columns, row, strict=True)] for row in self.rows]

    def text(self, kind: Kind) -> str:
        """The table in one of the forms, ending in a line break. Raises DataError where there is no such form."""
        if kind == "markdown":
            return self.markdown()
        if kind == "latex":
            return self.latex()
        if kind == "csv":
            return self.csv()
        raise _unknown("form", kind, get_args(Kind))

    def markdown(self) -> str:
        r"""The table as GitHub and Pandoc read it, marks in texts escaped.

        >>> print(Table("", (Column("path"), Column("f1q", score)), (("/names/*", 0.5),)).markdown(), end="")
        | path | f1q |
        |:---|---:|
        | /names/\* | 0.5000 |
        """
        head = [_marked(column.name) for column in self.columns]
        rule = [":---" if column.written is None else "---:" for column in self.columns]
        rows = ([_marked(text) for text in row] for row in self.texts)
        lines = [f"| {' | '.join(head)} |", f"|{'|'.join(rule)}|", *(f"| {' | '.join(row)} |" for row in rows)]
        return "\n".join(lines) + "\n"

    def latex(self) -> str:
        r"""The table as a `tabular` with the rules of `booktabs`.

        >>> print(Table("", (Column("run"), Column("f1q", score)), (("page_02", 0.5),)).latex(), end="")
        \begin{tabular}{lr}
        \toprule
        run & f1q \\
        \midrule
        page\_02 & 0.5000 \\
        \bottomrule
        \end{tabular}
        """
        sides = "".join("l" if column.written is None else "r" for column in self.columns)
        head = " & ".join(_typeset(column.name) for column in self.columns)
        rows = [" & ".join(map(_typeset, row)) + r" \\" for row in self.texts]
        lines = [rf"\begin{{tabular}}{{{sides}}}", r"\toprule", rf"{head} \\", r"\midrule", *rows]
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"

    def csv(self) -> str:
        """The table with all digits; text that a spreadsheet would run as a formula is preceded by an apostrophe.

        >>> Table("", (Column("run"), Column("f1q", score)), (("=1+1", 2 / 3),)).csv()
        "run,f1q\\n'=1+1,0.6666666666666666\\n"
        """
        file = io.StringIO()
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow([cell(column.name) for column in self.columns])
        rows.writerows([cell(one) for one in row] for row in self.rows)
        return file.getvalue()


def score(value: Cell) -> str:
    """Four decimals."""
    return f"{value:.4f}"


def signed(value: Cell) -> str:
    """Four decimals and a sign."""
    return f"{value:+.4f}"


def count(value: Cell) -> str:
    """A count, or a mass that need not be whole."""
    return f"{value:g}" if float(value or 0.0).is_integer() else f"{value:.2f}"


def chance(value: Cell) -> str:
    """A p: four decimals, and never 0."""
    return "<0.0001" if isinstance(value, float) and value < 5e-5 else f"{value:.4f}"  # noqa: PLR2004


def percent(value: Cell) -> str:
    """A share in per cent."""
    return f"{value:.1%}"


def table(evaluation: Evaluation, kind: Kind, rows: Rows = "documents", scores: Sequence[str] = SHOWN) -> str:
    """What came of a corpus as Markdown, LaTeX or CSV: a row a document, a path, or a score.

    `scores` are the columns beside the counts of entries. Raises DataError where there is no such form, row or score.
    """
    if rows == "documents":
        return documents(evaluation, scores).text(kind)
    if rows == "paths":
        return paths(evaluation, scores).text(kind)
    if rows == "scores":
        return means(evaluation).text(kind)
    raise _unknown("row", rows, get_args(Rows))


def documents(evaluation: Evaluation, scores: Sequence[str] = SHOWN) -> Table:
    """The scores of the entries of every document."""
    return figures({one.key: one.scores.to_dict() for one in evaluation.documents}, scores, "document", COUNTS[:3])


def paths(evaluation: Evaluation, scores: Sequence[str] = SHOWN) -> Table:
    """The scores of every wildcard path over all documents."""
    rows = {path or "(the whole)": one.to_dict() for path, one in evaluation.by_path.items()}
    return figures(rows, scores, "path", COUNTS[:3])


def means(evaluation: Evaluation) -> Table:
    """Every score, micro and macro; the last column says how many documents are in the mean."""
    micro, macro = evaluation.micro, evaluation.macro
    columns = (Column("score"), Column("micro", score), Column("macro", score), Column("documents", count))
    rows = ((name, getattr(micro, name), getattr(macro, name), macro.documents[name]) for name in NAMES)
    return Table("Scores", columns, tuple(rows))


def groups(evaluation: Evaluation, by: Cluster, scores: Sequence[str] = SHOWN, name: str = "group") -> Table:
    """The means of the documents' scores, by groups of documents; `by` is as the cluster of `Evaluation.interval`."""
    members: dict[str, list[Document]] = {}
    marks = labels(evaluation.columns.ids, by) or ["all"] * len(evaluation.documents)
    for mark, document in zip(marks, evaluation.documents, strict=True):
        members.setdefault(mark, []).append(document)
    rows: dict[str, Mapping[str, Cell]] = {}
    for mark, some in members.items():
        good, failed = ([one.scores for one in some if one.failed is flag] for flag in (False, True))
        rows[mark] = MacroScores.of(good, failed).to_dict() | {"documents": len(some)}
    return figures(rows, scores, name, ("documents",))


def figures(
    rows: Mapping[str, Mapping[str, Cell]], scores: Sequence[str], name: str = "document", counts: Sequence[str] = ()
) -> Table:
    """Any figures by name, such as those of `arbitre.published`: a row each. Raises DataError where one is missing."""
    for one in rows.values():
        for missing in {*scores, *counts} - one.keys():
            raise _unknown("figure", missing, tuple(one))
    columns = (Column(name), *(Column(one, count) for one in counts), *(Column(one, score) for one in scores))
    return Table(
        f"By {name}", columns, tuple((key, *(one[at] for at in (*counts, *scores))) for key, one in rows.items())
    )


def leaderboard(ranking: Ranking) -> Table:
    """Systems from the best to the worst; no two that share a letter can be told apart."""
    letters = {
        one.name: "".join(_letter(at) for at, group in enumerate(ranking.groups) if one.name in group)
        for one in ranking.systems
    }
    columns = (
        Column("system"),
        Column(ranking.score, score),
        Column("low", score),
        Column("high", score),
        Column("alike"),
        Column("chance", score),
        Column("failed", count),
    )
    rows = (
        (one.name, one.score.estimate, one.score.low, one.score.high, letters[one.name], one.floor, one.failed)
        for one in ranking.systems
    )
    return Table("Leaderboard", columns, tuple(rows))


def side_by_side(ranking: Ranking) -> Table:
    """Several scores of every system, and the mean of its places in each."""
    names = tuple(ranking.systems[0].scores)
    columns = (Column("system"), *(Column(name, score) for name in names), Column("mean rank", places))
    rows = ((one.name, *one.scores.values(), one.mean_rank) for one in ranking.systems)
    return Table("Several scores", columns, tuple(rows))


def places(value: Cell) -> str:
    """A mean of places."""
    return f"{value:.2f}"


def pairs(found: Iterable[Versus]) -> Table:
    """Every two systems, or levels: how far they are apart, and how often chance alone makes as much of it."""
    columns = (
        Column("a"),
        Column("b"),
        Column("a - b", signed),
        Column("low", signed),
        Column("high", signed),
        Column("p", chance),
        Column("p (Holm)", chance),
    )
    rows = ((one.a, one.b, one.difference, one.low, one.high, one.p, one.p_holm) for one in found)
    return Table("Every two", columns, tuple(rows))


def winners(ranking: Ranking) -> Table:
    """On every path the best score, and who has it."""
    columns = (Column("path"), Column(f"best {ranking.score}", score), Column("next", score), Column("by"))
    rows = []
    for path, names in ranking.winners.items():
        known = ranking.by_path[path]
        others = [one for name, one in known.items() if name not in names and one is not None]
        best = known[names[0]] if names else None
        everyone = len(names) == len(ranking.systems) > 1
        rows.append((path or "(the whole)", best, max(others, default=None), "all" if everyone else ", ".join(names)))
    return Table("Per path", columns, tuple(rows))


def lacking(ranking: Ranking) -> Table:
    """Where the best system loses what it loses."""
    best = ranking.systems[0]
    columns = (Column("path"), Column("of all it loses", percent), Column(ranking.score, score))
    rows = (
        (path or "(the whole)", share, ranking.by_path[path].get(best.name)) for path, share in best.lacking.items()
    )
    return Table(f"What {best.name} still gets wrong", columns, tuple(rows))


def levels(factor: Factor) -> Table:
    """The levels of a factor, with intervals."""
    columns = (
        Column(factor.name),
        Column("documents", count),
        Column(factor.score, score),
        Column("low", score),
        Column("high", score),
    )
    rows = (
        (level or "(empty)", factor.documents[level], one.estimate, one.low, one.high)
        for level, one in factor.levels.items()
    )
    return Table(f"Factor {factor.name}", columns, tuple(rows))


def runs(found: Mapping[str, Stability]) -> Table:
    """How far systems depend on the run."""
    columns = (
        Column("system"),
        Column("runs", count),
        Column("documents", count),
        Column("mean", score),
        Column("sd", score),
        Column("changed", percent),
    )
    rows = (
        (name, len(one.runs), one.documents, one.overall.mean, one.overall.sd, one.share_changed)
        for name, one in found.items()
    )
    return Table("Over several runs", columns, tuple(rows))


def _letter(number: int) -> str:
    """a, b, ..., z, a1, ..."""
    return chr(ord("a") + number % 26) + str(number // 26 or "")


def _marked(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", visible(text))


def _typeset(text: str) -> str:
    """The text with its signs escaped; a `*` or `[` after a line break would belong to that."""
    return ("{}" if text.startswith(("*", "[")) else "") + visible(text).translate(_LATEX)


def _unknown(what: str, got: str, known: Sequence[str]) -> DataError:
    return DataError.of(
        f"Expected a {what} of a table, got {got!r}",
        hint=did_you_mean(got, known) or f"There are: {', '.join(known)}.",
    )
