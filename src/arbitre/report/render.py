"""Render a report as a self-contained HTML page: its cells, its charts, and the page.

The template only lays out the view model; it computes no scores.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from markupsafe import Markup, escape

from arbitre.errors import HIDDEN, clipped, show_hidden
from arbitre.language import Language, Translator
from arbitre.parsing.fast_json import compact
from arbitre.paths import STAR, parse
from arbitre.paths import escape as escape_token
from arbitre.report import entry_rows, sentences
from arbitre.report.document_tree import first_text, shown_schema, spelled
from arbitre.report.entry_rows import GLYPHS
from arbitre.report.figures import charts
from arbitre.report.standalone import render
from arbitre.report.statistics_text import (
    basis,
    contrast_basis,
    detectable,
    facing,
    lead,
    procedure,
    provenance,
    to_best,
)
from arbitre.report.worst_documents import MAX_ROWS, digest
from arbitre.values import kind_of

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from arbitre.report.view import View
    from arbitre.values import Json


# Cells. A page has one for each score of each document; functions are 2.5 times as fast as template macros.

if TYPE_CHECKING:
    _Interval = Mapping[str, Any] | None

_LEAST: Final = 0.00005
"""Minimum p-value that is written as a number."""


@dataclass(frozen=True, slots=True)
class Cells:
    """Writes numbers in one language, and escapes all other text."""

    say: Translator

    @property
    def filters(self) -> dict[str, Callable[..., Any]]:
        """Filters for the template."""
        numbers = (bar, self.data, self.interval, self.cell, self.p_value)
        cells = (self.interval_cells,)
        return {"literal": literal} | {one.__name__: _marked(one) for one in (*numbers, *cells)}

    def data(self, value: float | None, at: str | None = None, digits: int = 4) -> str:
        """Return a number with its exact value and its JSON Pointer in the results, or a dash."""
        if value is None:
            return self._none("–", "no_value")
        place = f' data-at="{_attribute(at)}"' if at else ""
        return f'<data value="{compact(value)}"{place}>{self.say.language.number(value, digits)}</data>'

    def interval(self, ends: _Interval, digits: int = 4) -> str:
        """Return an interval, or "unknown"."""
        if not ends:
            return f'<span class="none">{escape(self.say("unknown"))}</span>'
        low, high = (self.data(ends[end], None, digits) for end in ("low", "high"))
        return f"[{low}{escape(self.say('separator'))}{high}]"

    def _none(self, text: str, why: str) -> str:
        return f'<span class="none" title="{escape(self.say(why))}">{escape(text)}</span>'

    def cell(self, value: float | None, at: str | None = None, digits: int = 4, *, barred: bool = False) -> str:
        """Return a table cell with a number, sortable by its exact value, and a bar if `barred` is set."""
        return _cell(value, self.data(value, at, digits) + (bar(value) if barred else ""))

    def p_value(self, p: float | None) -> str:
        """Return a table cell with a p-value; a value below 0.00005 is shown as "< 0.0001"."""
        if p is None or p >= _LEAST:
            return self.cell(p)
        return _cell(p, f'<data value="{compact(p)}">&lt; {self.say.language.number(0.0001)}</data>')

    def interval_cells(self, score: float | None, ends: _Interval, text: str) -> str:
        """Return two cells for the interval of a score: the chart and the text."""
        width = ends["high"] - ends["low"] if ends else None
        return f'<td data-sort="{literal(score)}">{_whisker(score, ends)}</td>{_cell(width, text)}'


def _attribute(text: str) -> str:
    """Escape a text for an attribute; invisible characters become character references where HTML allows them."""
    return HIDDEN.sub(_reference, str(escape(text)))


def _reference(found: re.Match[str]) -> str:
    """Return the reference to a character, or the character as visible text if HTML allows no reference to it."""
    place = ord(found[0])
    missing = place == 0 or 0x7F < place < 0xA0 or 0xD800 <= place < 0xE000  # noqa: PLR2004
    return show_hidden(found[0]) if missing else f"&#{place};"


def literal(value: float | None) -> str:
    """Format a number as JSON; None becomes ""."""
    return "" if value is None else compact(value)


def bar(share: float | None) -> str:
    """Return a share as a horizontal bar."""
    if share is None:
        return ""
    return (
        '<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect class="track"'
        f' width="100" height="10"/><rect class="fill" width="{round(share * 100, 2)}" height="10"/></svg>'
    )


def spark(values: Sequence[float], names: Sequence[str], say: Translator) -> str:
    """Return values as small vertical bars, one for each system, with their names and numbers as tooltips."""
    most, bars = max(values) or 1.0, []
    for place, (value, name) in enumerate(zip(values, names, strict=True)):
        height = round(18.0 * value / most, 1)
        title = f"{show_hidden(name)}{say('colon')}{say.language.number(value, 3)}"
        bars.append(
            f'<rect x="{6 * place}" y="{round(18.0 - height, 1)}" width="5" height="{height}">'
            f"<title>{escape(title)}</title></rect>"
        )
    return f'<svg class="spark" viewBox="0 0 {6 * len(values)} 18" width="{6 * len(values)}">{"".join(bars)}</svg>'


def _whisker(score: float | None, ends: _Interval) -> str:
    if score is None:
        return ""
    line = ""
    if ends and ends["low"] < ends["high"]:
        begin, width = 2 + ends["low"] * 200, (ends["high"] - ends["low"]) * 200
        line = f'<path d="M{round(begin, 1)} 1v12m0-6h{round(width, 1)}m0-6v12"/>'
    centre = f'<circle r="3.4" cx="{round(2 + score * 200, 1)}" cy="7"/>'
    return f'<svg class="whisker" viewBox="0 0 204 14" aria-hidden="true">{line}{centre}</svg>'


def _cell(value: float | None, content: str) -> str:
    return f'<td class="n" data-sort="{literal(value)}">{content}</td>'


def _marked(write: Callable[..., str]) -> Callable[..., Markup]:
    """Mark the result as safe HTML: it contains only numbers and escaped text."""
    return lambda *given, **options: Markup(write(*given, **options))  # noqa: S704


def composition(subject: Mapping[str, Any], say: Translator) -> list[dict[str, Any]]:
    """Return the segments of the bar of all entries by class, in thousandths of its width; empty without entries."""
    sizes = subject["classes"]
    total = sum(sizes.values())
    parts, x = [], 0.0
    for kind, size in sizes.items():
        if size > 0.0:
            width = 1000.0 * size / total
            text = say(
                f"part.{kind}", n=say.language.number(size, 0), threshold=say.language.number(subject["close"], 2)
            )
            parts.append({"kind": kind, "x": f"{x:.1f}", "width": f"{width:.1f}", "text": text, "glyph": GLYPHS[kind]})
            x += width
    return parts


VERDICT_GLYPHS: Final = {
    "correct": "=",
    "close": "≈",
    "wrong": "≠",
    "wrong type": "⊘",
    "missing": "−",
    "spurious": "+",
    "moved": "↔",
    "renamed": "⇄",
    "split": "⊢",
    "merged": "⊣",
}
"""Symbol of each verdict, so that colour alone carries no meaning."""

FORMULAS: Final = {
    "precision": "k / m",
    "recall": "k / n",
    "f1": "2k / (n + m)",
    "amq": "S / k",
    "imq": "S / m",
    "irq": "S / n",
    "f1q": "2S / (n + m)",
    "quality": "S / (n + m − k)",
    "omq": "3 / (1/precision + 1/recall + 1/amq)",
    "omq_imq": "3 / (1/imq + 1/recall + 1/amq)",
    "variance": "Σq² / k − amq²",
}


MOST_BOARD_ROWS: Final = 6
"""Maximum number of systems on the first screen; the whole leaderboard is among the scores."""

MOST_COLUMNS: Final = 4
"""Maximum number of systems with a column of their own in the list of causes; more are shown as small bars."""

MOST_PAIRED: Final = 6
"""Maximum number of systems whose tests are listed pair by pair; those of more systems are shown as a matrix."""


def render_page(view: View, language: Language = Language.EN) -> str:
    """Render a view as an HTML page; equal views give identical bytes."""
    plain = view.to_dict()
    say = Translator(language)
    subjects = plain["subjects"]
    several = len(subjects) > 1
    causes = [cause for one in subjects if one["causes"] for cause in one["causes"]["rows"]]
    return render(
        "report",
        language,
        data=_data(plain, language, several=several),
        filters=_filters,
        values={
            "view": plain,
            "version": plain["version"],
            "title": sentences.title(plain, say),
            "several": several,
            "explored": any(one["explorer"] for one in subjects),
            "diagnosed": any(one["faults"] for one in subjects),
            "glyphs": entry_rows.GLYPHS,
            "verdict_glyphs": VERDICT_GLYPHS,
            "formulas": FORMULAS,
            "main_score": plain["systems"]["score"] if plain["systems"] else "f1q",
            "board_rows": MOST_BOARD_ROWS,
            "matrix_from": MOST_PAIRED,
            "most_columns": MOST_COLUMNS,
            "costs_of": partial(costs_of, subjects),
            "spark": _marked(partial(spark, say=say)),
            "at": lambda number, pointer: f"{number}{pointer}" if several else pointer,
            "headline": partial(sentences.headline, say=say),
            "contrast": partial(sentences.contrast, say=say),
            "caveats": partial(sentences.caveats, plain, say),
            "sentences": partial(sentences.sentences, say=say),
            "cause_keys": cause_keys(plain["causes"]["rows"]) if plain["causes"] else [],
            "cause_label": partial(cause_label, say=say),
            "most_cost": max((cause["cost"] for cause in causes), default=0.0),
            "causes_searched": partial(sentences.causes_searched, subjects, say),
            "no_causes": partial(sentences.no_causes, subjects, say),
            "whisker": _marked(_whisker),
            "test_matrix": test_matrix,
            "test_title": partial(sentences.test_title, say=say),
            "paths_by_system": partial(paths_by_system, subjects),
            "composition": partial(composition, say=say),
            "charts": charts(plain, say),
            "worst_rows": MAX_ROWS,
            "held": {one["name"]: {document["key"] for document in one["explorer"]} for one in subjects},
            "basis": partial(basis, say=say),
            "contrast_basis": partial(contrast_basis, say=say),
            "lead": partial(lead, say=say),
            "detectable": partial(detectable, say=say),
            "to_best": to_best,
            "provenance": partial(provenance, say=say),
            "methods": sentences.methods(subjects, plain["version"], say),
            "held_documents": sentences.held(subjects, say),
            "procedure": partial(procedure, say=say),
        },
    )


def cause_keys(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what identifies each cause in the address of the page: its kind, its path, and its number if needed.

    >>> cause_keys([{"kind": "omission", "path": None}, {"kind": "case", "path": "/a"}, {"kind": "case", "path": "/a"}])
    ['omission', 'case /a', 'case /a 2']
    """
    seen: Counter[str] = Counter()
    keys = []
    for row in rows:
        key = str(row["kind"]) if row["path"] is None else f"{row['kind']} {row['path']}"
        seen[key] += 1
        keys.append(key if seen[key] == 1 else f"{key} {seen[key]}")
    return keys


def cause_label(row: Mapping[str, Any], say: Translator) -> str:
    """Return the name of a cause: that of its kind, after the field if the cause is systematic."""
    fields = [] if row["path"] is None else [token for token in parse(row["path"]) if token != STAR]
    name = say(f"cause.{row['kind']}")
    return f"{show_hidden(str(fields[-1]))}{say('colon')}{name}" if fields else name


def costs_of(subjects: Sequence[Mapping[str, Any]], row: Mapping[str, Any]) -> list[float]:
    """Return the cost of a cause in every system; 0 without the cause."""
    members = zip(subjects, row["members"], strict=True)
    return [0.0 if at is None else one["causes"]["rows"][at]["cost"] for one, at in members]


def test_matrix(systems: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the tests of all pairs: a row for each system, with its test against every system, in board order."""
    names = [one["name"] for one in systems["board"]]
    known = {
        name: {found["b"]: found for test in systems["tests"] if (found := facing(test, name))["a"] == name}
        for name in names
    }
    return [{"name": name, "tests": [known[name].get(other) for other in names]} for name in names]


def paths_by_system(subjects: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the f1q of every path in every system, in the order of the first system that has the path."""
    rows = {row["path"]: row for one in reversed(subjects) for row in one["paths"]}
    order = dict.fromkeys(row["path"] for one in subjects for row in one["paths"])
    scores = [{row["path"]: row["scores"]["f1q"] for row in one["paths"]} for one in subjects]
    return [
        {**{name: rows[path][name] for name in ("path", "label", "depth")}, "scores": [one.get(path) for one in scores]}
        for path in order
    ]


def _filters(language: Language) -> dict[str, Callable[..., Any]]:
    return {
        **Cells(Translator(language)).filters,
        "clip": clipped,
        "brief": _brief,
        "token": escape_token,
        "component": lambda text: quote(text.encode("utf-8", errors="replace"), safe=""),
        "breakable": lambda text: Markup("<wbr>/").join(map(escape, text.split("/"))).removeprefix("<wbr>"),
        "letter": lambda number: chr(ord("a") + number % 26),
    }


def _brief(one: Mapping[str, Json], room: int = 60) -> list[str]:
    """Return short texts for the gold and the predicted value of a pair: a single one if they have the same name.

    Values of different types never have the same text.
    """
    values = [one["gold"], one["predicted"]]
    named = values if kind_of(values[0]) != kind_of(values[1]) else map(_named, values)
    return list(dict.fromkeys(clipped(show_hidden(spelled(value)), room) for value in named))


def _named(value: Json) -> Json:
    """Return the first text of an object, or the value itself."""
    text = first_text(value)
    return value if text is None else text


def _data(plain: Mapping[str, Any], language: Language, *, several: bool) -> dict[str, Any]:
    say = Translator(language)
    kept = (
        *("js.", "check.", "decide", "published", "score.", "verdict.", "class.", "theme.", "colon", "separator"),
        *("gold.column", "predicted.column", "help", "nav.scores", "nav.causes", "no_spread", "too_few"),
    )
    strings = {name: text for name, text in say.catalogue.items() if name.startswith(kept)}
    found = () if plain["causes"] is None else dict.fromkeys(row["kind"] for row in plain["causes"]["rows"])
    strings |= {name: say.catalogue[name] for name in (f"advice.{kind}" for kind in found)}
    return {
        "language": language.value,
        "several": several,
        "glyphs": VERDICT_GLYPHS | {f"class.{name}": glyph for name, glyph in entry_rows.GLYPHS.items()},
        "strings": strings,
        "close": plain["subjects"][0]["close"] if plain["subjects"] else 1.0,
        "nfc": all("unicode" in one["signature"]["entries"] for one in plain["subjects"]),
        "documents": max((one["documents"] for one in plain["subjects"]), default=0),
        "causes": plain["causes"],
        "subjects": [
            {
                "name": one["name"],
                "documents": one["explorer"],
                "causes": one["causes"],
                "depth": len(parse(one["entries"])) + 1,  # an item or a field
                "table": _document_columns(one["rows"]),
            }
            for one in plain["subjects"]
        ],
        "key": _key(plain),
        "schemas": {path: shown_schema(schema) for one in plain["subjects"] for path, schema in one["schemas"].items()},
    }


def _key(plain: Mapping[str, Any]) -> str:
    """Return a text that identifies the results of a view, regardless of the language and of the documents shown."""
    results = [
        [one["name"], one["signature"]["long"], one["headline"], one["curve"], (one["causes"] or {}).get("digest")]
        for one in plain["subjects"]
    ]
    return digest(compact(results))[:16]


_DOCUMENT_SCORES: Final = ("f1q", "imq", "irq", "amq", "gold", "predicted")


def _document_columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the table of documents as columns; scores have six decimals. Rows take five times the room."""

    def rounded(values: Iterable[float | None]) -> list[float | None]:
        return [None if value is None else round(value, 6) for value in values]

    ends = [row["interval"] or {"low": None, "high": None} for row in rows]
    return {
        "keys": [row["key"] for row in rows],
        "failed": [place for place, row in enumerate(rows) if row["failed"]],
        "kept": [place for place, row in enumerate(rows) if row["kept"]],
        "quality": rounded(row["quality"] for row in rows),
        **{name: rounded(row["scores"][name] for row in rows) for name in _DOCUMENT_SCORES},
        **{end: rounded(one[end] for one in ends) for end in ("low", "high")},
    }
