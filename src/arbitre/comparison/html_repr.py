"""HTML of results for notebooks: bars, tables and pictures of matchings. All text from data is escaped.

Styles are inline, because notebooks remove style sheets, and colours suit light and dark themes. Functions that write
words take the translator of their language.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from arbitre.errors import clipped, show_hidden
from arbitre.language import ENGLISH, counted
from arbitre.tables.table import WHOLE, Table, TableColumn
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from arbitre.language import Translator
    from arbitre.signature import Signature
    from arbitre.tables.table import CellValue
    from arbitre.tally import MacroScores, Scores
    from arbitre.values import Json

SHOWN: Final = ("f1q", "imq", "irq", "amq", "gold", "predicted", "matched")
PATHS: Final = 30
"""Maximum number of paths in a table."""
WORST: Final = 5
"""Maximum number of faults, or of documents, in a table."""
ITEMS: Final = 40
"""Maximum number of items of a list in the picture of its matching."""

COLOURS: Final = {
    "correct": "#2a8ba3",
    "close": "#7fbccb",
    "wrong": "#e09a4c",
    "wrong type": "#c26f2a",
    "missing": "#c4572f",
    "spurious": "#9d70c0",
}
_WIDTH: Final = 240
_ROW: Final = 18


def page(*parts: Markup, signature: Signature | None = None) -> str:
    """Return the HTML of a result: its parts, and its signature."""
    end = Markup()
    if signature is not None:
        end = Markup('<p style="margin:4px 0"><small>signature <code>{}</code></small></p>').format(signature.short)
    return str(Markup('<div style="line-height:1.45">{}{}</div>').format(Markup().join(parts), end))


def line(text: str, *, strong: bool = False, say: Translator = ENGLISH) -> Markup:
    """Return a line of text."""
    text_in = Markup("<b>{}</b>") if strong else Markup("{}")
    return Markup('<p style="margin:4px 0">{}</p>').format(text_in.format(show_hidden(say.text(text))))


def bar(
    value: float | None, low: float | None = None, high: float | None = None, *, say: Translator = ENGLISH
) -> Markup:
    """Return a bar for a score in [0, 1], with its interval as a line, and both as text."""
    if value is None:
        return Markup("{}").format(say.word("undefined"))
    text = say.localized(number(value))
    if low is not None and high is not None:
        text += f" ({say.text(f'{number(low)} to {number(high)}')})"
    whisker = Markup()
    if low is not None and high is not None:
        whisker = Markup(
            '<path d="M{0:.1f} 3v8M{0:.1f} 7H{1:.1f}M{1:.1f} 3v8" fill="none" stroke="currentColor"/>'
        ).format(_WIDTH * max(0.0, low), _WIDTH * min(1.0, high))
    return Markup(
        '<svg width="{0}" height="14" viewBox="-1 0 {1} 14" role="img" aria-label="{2}" style="vertical-align:middle">'
        '<rect y="2" width="{0}" height="10" fill="currentColor" opacity="0.12"/>'
        '<rect y="2" width="{3:.1f}" height="10" fill="{4}"/>{5}</svg> {2}'
    ).format(_WIDTH, _WIDTH + 2, text, _WIDTH * value, COLOURS["correct"], whisker)


def composition(counts: Mapping[str, int]) -> Markup:
    """Return a bar divided by verdict, with the counts as text."""
    total, x = sum(counts.values()), 0.0
    segments, words = [], []
    for verdict, colour in COLOURS.items():
        if count := counts.get(verdict, 0):
            width = 2 * _WIDTH * count / total
            segments.append(Markup('<rect x="{:.1f}" width="{:.1f}" height="12" fill="{}"/>').format(x, width, colour))
            words.append(Markup('<span style="color:{}">■</span>&nbsp;{}&nbsp;{}').format(colour, count, verdict))
            x += width
    return Markup(
        '<svg width="{0}" height="12" viewBox="0 0 {0} 12" role="img" aria-label="leaves by verdict">{1}</svg>'
        '<p style="margin:4px 0">{2}</p>'
    ).format(2 * _WIDTH, Markup().join(segments), Markup(" &ensp;").join(words))


def table(heads: Sequence[str], rows: Iterable[Sequence[CellValue]], *, say: Translator = ENGLISH) -> Markup:
    """Return a table; numbers have two decimals. Empty without rows."""
    lines = list(rows)
    numeric = [any(isinstance(row[at], int | float) for row in lines) for at in range(len(heads))]
    columns = (TableColumn(head, number if numbers else None) for head, numbers in zip(heads, numeric, strict=True))
    return Table.of("", tuple(columns), lines).translated(say).html()


def scores_table(
    corner: str, columns: Iterable[tuple[str, Scores | MacroScores]], *, say: Translator = ENGLISH
) -> Markup:
    """Return a table with the scores and counts of one result in each row."""
    counts = {"gold", "predicted", "matched"}
    rows = []
    for name, scores in columns:
        values = [getattr(scores, score) for score in SHOWN]
        whole = zip(SHOWN, values, strict=True)
        rows.append((name, *(int(v) if score in counts and float(v).is_integer() else v for score, v in whole)))
    return table((corner, *SHOWN), rows, say=say)


def paths_table(by_path: Mapping[str, Scores], *, say: Translator = ENGLISH) -> Markup:
    """Return the scores of the paths, collapsed."""
    rows = [(path or say.word(WHOLE), scores) for path, scores in list(by_path.items())[:PATHS]]
    more = more_paths(len(by_path), say=say)
    return folded("Scores by path", scores_table("path", rows, say=say) + more, say=say)


def more_paths(size: int, *, say: Translator = ENGLISH) -> Markup:
    """Return a line that states how many of `size` paths are not shown; empty if all paths are shown."""
    more = size - PATHS
    return line(f"and {counted(more, 'more path')}", say=say) if more > 0 else Markup()


def folded(title: str, content: Markup, *, shown: bool = False, say: Translator = ENGLISH) -> Markup:
    """Return collapsible content, collapsed at first unless `shown`."""
    state = Markup(" open") if shown else Markup()
    whole = Markup("<details{}><summary>{}</summary>{}</details>").format(state, say.text(title), content)
    return whole if content else content


def matching(
    pairs: Iterable[tuple[int, int, float, float]],
    unmatched: tuple[Collection[int], Collection[int]],
    sizes: tuple[int, int],
) -> Markup:
    """Return a picture of a matching: gold positions on the left, predicted ones on the right, a line for each pair.

    Args:
        pairs: Position in gold, position in the prediction, mass and quality of each pair.
        unmatched: Positions without a partner, on both sides.
        sizes: Number of items on both sides.
    """
    height = _ROW * max(1, *(min(size, ITEMS) for size in sizes))
    parts = [
        Markup('<path d="M40 {:.0f}L200 {:.0f}" stroke="{}" stroke-width="{:.1f}"/>').format(
            _y(gold), _y(predicted), _colour(quality), 1 + 2 * min(1.0, mass)
        )
        for gold, predicted, mass, quality in pairs
        if gold < ITEMS and predicted < ITEMS
    ]
    for side, (x, anchor, kind) in enumerate(((34, "end", "missing"), (206, "start", "spurious"))):
        for position in range(min(sizes[side], ITEMS)):
            colour = COLOURS[kind] if position in unmatched[side] else "currentColor"
            parts.append(
                Markup('<text x="{}" y="{:.0f}" text-anchor="{}" fill="{}" font-size="12">{}</text>').format(
                    x, _y(position) + 4, anchor, colour, position
                )
            )
    return Markup(
        '<svg width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img" aria-label="gold items on the left, '
        'predicted items on the right">{2}</svg>'
    ).format(_WIDTH, height, Markup().join(parts))


def _y(position: int) -> float:
    return _ROW * (position + 0.5)


def _colour(quality: float) -> str:
    return COLOURS["correct" if quality >= 1.0 else "close" if quality >= 0.8 else "wrong"]  # noqa: PLR2004  (drawn only)


def number(value: float | None) -> str:
    """Return a number with two decimals, or a count without decimals; a dash for None.

    >>> number(0.98765), number(3), number(None)
    ('0.99', '3', '–')
    """
    return "–" if value is None else f"{value}" if isinstance(value, int) else f"{value:.2f}"


def value_text(value: Json) -> str:
    """Return the JSON text of a value, clipped; a dash if it is absent."""
    return "–" if value is ABSENT else clipped(json.dumps(value, ensure_ascii=False), 60)
