"""Render a report as a self-contained HTML page: its cells, its charts, and the page.

The template only lays out the view model; it computes no scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from markupsafe import Markup, escape

from arbitre.errors import clipped, show_hidden
from arbitre.parsing.fast_json import compact
from arbitre.paths import escape as escape_token
from arbitre.report import entry_rows
from arbitre.report.document_tree import first_text, spelled
from arbitre.report.entry_rows import GLYPHS
from arbitre.report.figures import charts
from arbitre.report.language import (
    Language,
    Translator,
    basis,
    contrast_basis,
    detectable,
    lead,
    procedure,
    provenance,
    sampled,
    to_best,
)
from arbitre.report.standalone import render
from arbitre.report.worst_documents import MAX_ROWS
from arbitre.values import kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

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
        cells = (self.interval_cells, self.difference_cells, self.document)
        return {"literal": literal} | {one.__name__: _marked(one) for one in (*numbers, *cells)}

    def data(self, value: float | None, at: str | None = None, digits: int = 4) -> str:
        """Return a number with its exact value and its JSON Pointer in the results, or a dash."""
        if value is None:
            return self._none("–", "no_value")
        place = f' data-at="{escape(at)}"' if at else ""
        return f'<data value="{compact(value)}"{place}>{self.say.language.number(value, digits)}</data>'

    def interval(self, ends: _Interval, digits: int = 4) -> str:
        """Return an interval, or "unknown"."""
        if not ends:
            return f'<span class="none">{escape(self.say("unknown"))}</span>'
        low, high = (self.data(ends[end], None, digits) for end in ("low", "high"))
        return f"[{low}{escape(self.say('separator'))}{high}]"

    def document_interval(self, ends: _Interval) -> str:
        """Return the interval of one document, or a placeholder with the reason in its tooltip."""
        if not ends:
            return self._none("–", "too_few")
        if ends["low"] == ends["high"]:
            return self._none(self.say("no_spread"), "no_spread.why")
        return self.interval(ends)

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

    def difference_cells(self, test: Mapping[str, Any] | None, placeholder: str) -> str:
        """Return three cells for the difference to the best system: the number, its interval as a chart, and as text.

        The chart shows the range from -1 to 1. Without a test, the first cell contains the placeholder.
        """
        if test is None or test["difference"] is None:
            return f'<td class="n" data-sort="0">{escape(placeholder)}</td><td></td><td></td>'
        ends = None if test["low"] is None else {end: test[end] for end in ("low", "high")}
        scaled = ends and {end: (1.0 + value) / 2.0 for end, value in ends.items()}
        chart = _whisker((1.0 + test["difference"]) / 2.0, scaled)
        text = _cell(ends["high"] - ends["low"] if ends else None, self.interval(ends))
        return f'{self.cell(test["difference"])}<td data-sort="{literal(test["difference"])}">{chart}</td>{text}'

    def document(self, row: Mapping[str, Any], *, ranged: bool) -> str:
        """Return all cells of a document after its name. Takes three quarters of the time of one filter per cell."""
        scores, ends = row["scores"], row["interval"]
        range_cells = self.interval_cells(scores["f1q"], ends, self.document_interval(ends)) if ranged else ""
        means = "".join(self.cell(scores[name]) for name in ("imq", "irq", "amq"))
        counts = "".join(self.cell(scores[name], digits=0) for name in ("gold", "predicted"))
        f1q = self.cell(scores["f1q"], barred=not ranged)
        return f"{self.cell(row['quality'])}\n{f1q}{range_cells}{means}{counts}"


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


OUTSIDE: Final = 10
"""Maximum number of paths in a sentence; the rest are counted."""

PAPER: Final = 50
"""Maximum number of rows of a long list when the page is printed."""

REACHED: Final = 0.9
"""Document quality for which the report states the share of documents that reach it."""

STYLE: Final = (
    *("palette", "page", "answer", "tables", "charts", "controls", "map", "entry", "difference", "matrix"),
    *("phone", "print"),
)
"""Style sheets in cascade order."""

SCRIPT: Final = (
    *("page", "theme", "tables", "print", "text", "difference", "schema_check", "keeping", "fields", "shares"),
    *("state", "filters", "address", "entry", "map", "list", "matrix", "document", "explorer"),
)
"""Script files, concatenated into one module; each uses only the ones before it."""


def render_page(view: View, language: Language = Language.EN) -> str:
    """Render a view as an HTML page; equal views give identical bytes."""
    plain = view.to_dict()
    say = Translator(language)
    several = len(plain["subjects"]) > 1
    return render(
        "report.html.j2",
        language,
        style=[f"style/{name}" for name in STYLE],
        script=[f"script/{name}" for name in SCRIPT],
        data=_data(plain, language, several=several),
        filters=_filters,
        values={
            "view": plain,
            "title": _title(plain, say),
            "several": several,
            "explored": any(one["explorer"] for one in plain["subjects"]),
            "diagnosed": any(subject["faults"] for subject in plain["subjects"]),
            "glyphs": entry_rows.GLYPHS,
            "verdict_glyphs": VERDICT_GLYPHS,
            "formulas": FORMULAS,
            "at": lambda number, pointer: f"{number}{pointer}" if several else pointer,
            "sentences": partial(_sentences, say=say),
            "composition": partial(composition, say=say),
            "charts": charts(plain, say),
            "warning": partial(_warning, say=say),
            "paper": PAPER,
            "worst_rows": MAX_ROWS,
            "held": {one["name"]: {document["key"] for document in one["explorer"]} for one in plain["subjects"]},
            "basis": partial(basis, say=say),
            "contrast_basis": partial(contrast_basis, say=say),
            "lead": partial(lead, say=say),
            "detectable": partial(detectable, say=say),
            "to_best": to_best,
            "provenance": partial(provenance, say=say),
            "sampled": partial(sampled, say=say),
            "methods": lambda subject: _methods(subject, plain["version"], say),
            "procedure": partial(procedure, say=say),
        },
    )


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
    columns = ("gold.column", "predicted.column")
    kept = ("js.", "check.", "published", "score.", "verdict.", "class.", "theme.", "colon", *columns)
    strings = {name: text for name, text in say.catalogue.items() if name.startswith(kept)}
    found = () if plain["causes"] is None else dict.fromkeys(row["kind"] for row in plain["causes"]["rows"])
    strings |= {name: say.catalogue[name] for kind in found for name in (f"cause.{kind}", f"advice.{kind}")}
    return {
        "language": language.value,
        "several": several,
        "glyphs": VERDICT_GLYPHS | {f"class.{name}": glyph for name, glyph in entry_rows.GLYPHS.items()},
        "strings": strings,
        "close": plain["subjects"][0]["close"] if plain["subjects"] else 1.0,
        "subjects": [
            {"name": one["name"], "documents": one["explorer"], "causes": one["causes"]} for one in plain["subjects"]
        ],
        "causes": plain["causes"],
    }


def _title(plain: Mapping[str, Any], say: Translator) -> str:
    """Return the title of the page: that of the schema, else the entries, and the system or the number of systems.

    Args:
        plain: The view as JSON.
        say: Translator of the language of the page.
    """
    subjects = plain["subjects"]
    first = subjects[0] if subjects else {"title": None, "entries": ""}
    title: str = first["title"] or say("title", entries=first["entries"] or say("whole"))
    if len(subjects) > 1:
        return f"{title}{say('colon')}{say('title.several', n=len(subjects))}"
    return f"{title}{say('colon')}{first['name']}" if subjects and first["name"] else title


def _sentences(subject: Mapping[str, Any], say: Translator) -> Iterator[Markup]:
    """Yield the sentences that summarise the results."""
    counts, classes = subject["counts"], subject["classes"]
    scores = {line["name"]: line["micro"] for line in subject["headline"]}
    gold, predicted, matched = (counts[name] for name in ("gold", "predicted", "matched"))
    count = partial(say.language.number, digits=0)
    share = {name: say.percent(value) for name, value in scores.items()}

    def strong(name: str, /, **values: object) -> Markup:
        marked = {key: Markup("<b>{}</b>").format(say.value(value)) for key, value in values.items()}
        return escape(say.template(name, values.get("n"))).format(**marked)

    if not gold and not predicted:
        yield strong("said.nothing")
    elif not subject["moved"] and subject["forced"] is False and not float(gold).is_integer():
        yield strong("said.mass", gold=count(gold), predicted=count(predicted), matched=count(matched))
    else:
        yield (
            strong(
                "said.moved" if subject["moved"] else "said.fields" if subject["listed"] is False else "said.counts",
                gold=count(gold),
                matched=count(matched),
                predicted=count(predicted),
            )
            + " "
            + strong(
                "said.pairs",
                **{name: count(classes[name]) for name in ("exact", "close", "low")},
                threshold=say.language.number(subject["close"], 2),
            )
        )
        missing, spurious = classes["missing"], classes["spurious"]
        left = strong("said.left", missing=count(missing), spurious=count(spurious))
        none = strong("said.left.moved" if subject["moved"] and subject["forced"] else "said.left.none")
        yield left if missing or spurious else none
    if None not in (scores["irq"], scores["imq"], scores["amq"]):
        yield strong("said.graded", irq=share["irq"], imq=share["imq"], amq=share["amq"])
    size = strong("said.documents", n=subject["documents"])
    yield size + " " + strong("said.failed", n=subject["failed"]) if subject["failed"] else size
    shares = {one["quality"]: one["share"] for one in subject["document_quality"]["at_least"]}
    if subject["documents"]:
        yield strong("said.quality", share=say.percent(shares[REACHED]), least=say.language.number(REACHED, 1))
    if outside := subject["outside"]:
        named = [
            f"{show_hidden(path) or say('whole')}\u00a0{say.language.number(f1q, 2)}" for path, f1q in outside.items()
        ]
        more = [say("said.outside.more", n=len(named) - OUTSIDE)] * (len(named) > OUTSIDE)
        yield strong("said.outside", paths=", ".join((*named[:OUTSIDE], *more)))


def _warning(subject: Mapping[str, Any], name: str, say: Translator) -> str:
    counted: dict[str, int] = {
        **subject["noted"],
        "never": len(subject["never"]),
        "without_gold": len(subject["without_gold"]),
        "failed": subject["failed"],
        "unscored": len(subject["failures"]) - subject["failed"],
        "vacuous": subject["vacuous"],
        "few": subject["documents"],
    }
    paths = ", ".join(map(show_hidden, subject["never"][:OUTSIDE]))
    more = [say("said.outside.more", n=len(subject["never"]) - OUTSIDE)] * (len(subject["never"]) > OUTSIDE)
    return say(
        f"warning.{name}", n=counted.get(name, 0), documents=subject["documents"], paths=", ".join((paths, *more))
    )


def _methods(subject: Mapping[str, Any], version: str, say: Translator) -> str:
    scores = {line["name"]: line["micro"] for line in subject["headline"]}
    counts = {name: say.language.number(value, 0) for name, value in subject["counts"].items()}
    shown = {name: say.language.number(scores[name]) for name in ("f1q", "imq", "irq", "amq")}
    certificate = (subject["certificate"] or {"verdict": "unknown"})["verdict"]
    text = say(
        "methods.text",
        name=f"{show_hidden(subject['name'])}: " if subject["name"] else "",
        version=version,
        signature=show_hidden(subject["signature"]["short"]),
        documents=subject["documents"],
        failed=subject["failed"],
        entries=show_hidden(subject["entries"]) or say("whole"),
        certificate=say(f"verdict.{certificate}"),
        **{name: counts[name] for name in ("gold", "predicted", "matched")},
        **shown,
    )
    text += f" {provenance(subject['provenance'], say)}."
    found = next((line["interval"] for line in subject["headline"] if line["interval"]), None)
    if found and subject["sampled"]:
        text += f" {basis(found, subject['sampled'], say)}"
    return f"{text} {say('methods.cite', version=version)}"
