"""Figures for publications: Vega-Lite specifications with inline data, rendered as SVG, PDF and PNG."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from arbitre.errors import ArbitreError, clipped, show_hidden
from arbitre.report.charts import Chart, Curve, Curves, Estimate, Estimates, values_of
from arbitre.report.drawing import SCREEN, WIDE_SCREEN, Axis, Canvas, Medium, Unit
from arbitre.report.language import Language, Translator, basis, probability
from arbitre.report.quality_matrix import axes_of, shares_of
from arbitre.storage.output_folder import output_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from types import ModuleType

    from markupsafe import Markup

    from arbitre.report.view import FactorView, IntervalView, Subject, SystemsView, View


Spec = dict[str, Any]

PARTS: Final = ("imq", "irq", "amq")
"""Scores shown for every path."""

COLOURS: Final = ("#0f5d73", "#d98a3d", "#7a4f9a", "#5f7f3c", "#9e3d22", "#4b94a5", "#6b6b6b", "#b59f3b")
"""Palette for all kinds of colour vision; in greyscale, dashes and order distinguish the series."""

UNIT: Final[Spec] = {"domain": [0, 1]}


VEGA_LITE: Final = "6.4"
SCHEMA: Final = "https://vega.github.io/schema/vega-lite/v6.json"
SPECIFICATION: Final = ".vl.json"
SCALE: Final = 4.0
"""Pixels per point in PNG files (4 is 288 dpi)."""

_CONFIG: Final[Spec] = {
    "background": "white",
    "font": "Helvetica, Arial, sans-serif",
    "axis": {"labelFontSize": 10, "titleFontSize": 11, "titleFontWeight": "normal", "gridColor": "#e3e0d8"},
    "legend": {"labelFontSize": 10, "titleFontSize": 11, "titleFontWeight": "normal"},
    "header": {"labelFontSize": 11, "titleFontSize": 11},
    "range": {"category": list(COLOURS)},
    "view": {"stroke": None},
}
_LOCALES: Final = {Language.EN: "en-US", Language.FR: "fr-FR"}


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a report.

    Attributes:
        name: Name of its files.
        title: What it shows.
        caption: How to read it, and what the numbers are based on.
        chart: Its data.
        wide: Whether it needs the width of the page.
    """

    name: str
    title: str
    caption: str
    chart: Chart
    wide: bool = False

    def svg(self, medium: Medium, say: Translator, unit: Unit | None = None) -> Markup:
        """Draw the figure for a medium; `unit` is that of the size in a file, None on a page."""
        canvas = Canvas(medium)
        return canvas.svg(self.chart.draw(canvas, say), self.title, unit)


def charts(view: Mapping[str, Any], say: Translator) -> list[dict[str, Any]]:
    """Return the figures of a view for a page: `name`, `title`, `caption` and `svg` of each, and whether it is `wide`.

    Args:
        view: The view as JSON.
        say: Translator of the language of the page.
    """
    made = []
    for figure in figures(view, say):
        drawing = figure.svg(WIDE_SCREEN if figure.wide else SCREEN, say)
        made.append(
            {"name": figure.name, "title": figure.title, "caption": figure.caption, "svg": drawing, "wide": figure.wide}
        )
    return made


def figures(view: Mapping[str, Any], say: Translator) -> Iterator[Figure]:
    """Yield the figures of a view as JSON that have data."""
    subjects = [subject for subject in view["subjects"] if subject["curve"]["steps"]]
    if subjects:
        yield _survival_curves(subjects, say)
    systems = view["systems"]
    if systems is not None and any(one["score"] is not None for one in systems["board"]):
        yield _leaderboard(systems, say)


def _survival_curves(subjects: Sequence[Mapping[str, Any]], say: Translator) -> Figure:
    """Return the survival curves: of gold entries for several systems, of gold and predicted entries for one."""
    several = len(subjects) > 1
    curves = [
        Curve(
            show_hidden(subject["name"] or "") if several else say(f"figure.survival.{side}"),
            tuple(_steps(subject["curve"], subject["curve"][side])),
            area=not several and side == "gold",
        )
        for subject in subjects
        for side in (("gold",) if several else ("gold", "predicted"))
        if subject["curve"][side]
    ]
    most = max(subject["documents"] for subject in subjects)
    kind = "several" if several else "single"
    return Figure(
        "survival",
        say("figure.survival"),
        say(f"figure.survival.caption.{kind}", documents=say("units.documents", n=most)),
        Curves(
            Axis.unit(say("figure.survival.x")),
            Axis.unit(say(f"figure.survival.y.{kind}")),
            tuple(curves),
        ),
    )


def _steps(curve: Mapping[str, Any], whole: float) -> Iterator[tuple[float, float]]:
    """Yield the points of the curve #{q >= t} / whole for t from 0 to 1; each value holds from the point before."""
    steps = curve["steps"]
    yield 0.0, steps[0][1] / whole
    yield from ((quality, surviving / whole) for quality, surviving in steps)
    yield 1.0, steps[-1][1] / whole if steps[-1][0] >= 1.0 else 0.0


def _leaderboard(systems: Mapping[str, Any], say: Translator) -> Figure:
    """Return the score of every system with its interval, best first."""
    rows = [_estimate(show_hidden(one["name"]), one) for one in systems["board"]]
    score, average = score_name(systems["score"], say), say(f"average.{systems['average']}")
    known = next((one["interval"] for one in systems["board"] if one["interval"]), None)
    caption = say("figure.leaderboard.caption", score=score[:1].upper() + score[1:], average=average)
    return Figure(
        "leaderboard",
        say("figure.leaderboard", score=score),
        f"{caption} {basis(known, systems['sampled'], say)}" if known else caption,
        Estimates(Axis.of(score, values_of(rows)), (("", tuple(rows)),)),
    )


def _estimate(label: str, one: Mapping[str, Any]) -> Estimate:
    ends = one["interval"] or {"low": None, "high": None}
    return Estimate(label, one["score"], ends["low"], ends["high"])


def score_name(score: str, say: Translator) -> str:
    """Return the name of a score in sentences and axes."""
    return say(f"score.{score}") if f"score.{score}" in say.names else score


def specifications(view: View, language: Language = Language.EN) -> dict[str, Spec]:
    """Return the Vega-Lite specifications of the figures of a view by name; figures without data are omitted.

    Names: `survival`, `paths`, `heat` (worst document; `heat-1`, `heat-2`, ... for several systems), `leaderboard`
    (several systems), `differences` (tests of several systems), `levels` (factors) and `paths-<factor>`, where
    characters not allowed in file names are percent-encoded.
    """
    say = Translator(language)
    subjects = [one for one in view.subjects if one.curve.steps]
    found: dict[str, Spec | None] = {
        "survival": _survival(subjects, say) if subjects else None,
        "paths": systems_by_path(view.subjects, say) if any(one.paths for one in view.subjects) else None,
        "leaderboard": leaderboard(view.systems, say) if view.systems is not None else None,
        "differences": differences(view.systems, say) if view.systems is not None else None,
        "levels": levels(view.factors, say) if view.factors else None,
    }
    for factor in view.factors:
        found[f"paths-{_fit(factor.name)}"] = levels_by_path(factor, say) if factor.paths else None
    for number, one in enumerate(view.subjects, 1):
        found["heat" if len(view.subjects) == 1 else f"heat-{number}"] = _heat(one, say)
    head = {"$schema": SCHEMA, "config": _CONFIG}
    return {name: head | spec for name, spec in found.items() if spec is not None}


def _fit(name: str) -> str:
    """Percent-encode a name for use in a file name; distinct names stay distinct."""
    return re.sub(r"[^\w .()+=-]", lambda found: quote(found[0], safe="", errors="replace"), name)


def write_figures(
    folder: Path,
    view: View,
    language: Language = Language.EN,
    *,
    inputs: Iterable[str | Path] = (),
    force: bool = False,
) -> tuple[str, ...]:
    """Write the figures of a view to a folder, each with its specification (`.vl.json`); see `output_folder`.

    Returns:
        The names of the files.

    Raises:
        ArbitreError: If the extra `report` is not installed.
        DataError: If a file cannot be written.
    """
    draw = _drawing()
    files: dict[str, bytes] = {}
    locale = _LOCALES[language]
    asked: dict[str, Any] = {"vl_version": VEGA_LITE, "allowed_base_urls": [], "format_locale": locale}
    for name, spec in specifications(view, language).items():
        made: dict[str, str | bytes] = {
            SPECIFICATION: json.dumps(spec, ensure_ascii=False, indent=2) + "\n",
            ".svg": draw.vegalite_to_svg(spec, **asked),
            ".pdf": draw.vegalite_to_pdf(spec, **asked),
            ".png": draw.vegalite_to_png(spec, scale=SCALE, **asked),
        }
        for end, content in made.items():
            files[f"{name}{end}"] = content.encode() if isinstance(content, str) else content
    with output_folder(folder, files, inputs=inputs, force=force) as staging:
        for name, data in files.items():
            (staging / name).write_bytes(data)
    return tuple(files)


def _drawing() -> ModuleType:
    try:
        return import_module("vl_convert")
    except ImportError as error:
        raise ArbitreError.of(
            "Figures need the package vl-convert-python, which is not installed",
            hint="pip install 'arbitre[report]'",
        ) from error


def _survival(subjects: Sequence[Subject], say: Translator) -> Spec:
    """Return the survival curves: share of gold for several systems, of gold and of the prediction for one."""
    several = len(subjects) > 1
    rows: list[Spec] = []
    for one in subjects:
        sides = {"gold": one.curve.gold} if several else {"gold": one.curve.gold, "predicted": one.curve.predicted}
        for side, whole in sides.items():
            line = name_of(one) if several else say(f"curve.{side}")
            rows += [{"quality": x, "share": y, "line": line} for x, y in _stairs(one, whole)]
    lines = list(dict.fromkeys(row["line"] for row in rows))
    legend = {"title": say("system") if several else None, "symbolType": "stroke", "symbolSize": 300}
    return {
        "width": 360,
        "height": 220,
        "data": {"values": rows},
        "mark": {"type": "line", "interpolate": "step-before", "strokeWidth": 1.8},
        "encoding": {
            "x": {"field": "quality", "type": "quantitative", "scale": UNIT, "axis": axis(say("curve.x"))},
            "y": {
                "field": "share",
                "type": "quantitative",
                "scale": UNIT,
                "axis": axis(say("curve.gold") if several else say("curve.y")),
            },
            "color": {"field": "line", "type": "nominal", "sort": lines, "legend": legend},
            "strokeDash": {"field": "line", "type": "nominal", "sort": lines, "legend": legend},
            "order": {"field": "quality", "type": "quantitative"},
        },
    }


def _stairs(subject: Subject, whole: float) -> Iterator[tuple[float, float]]:
    """Yield the points of a step-before line."""
    steps = subject.curve.steps
    if whole:
        yield 0.0, steps[0][1] / whole
        yield from ((quality, surviving / whole) for quality, surviving in steps)
        yield 1.0, steps[-1][1] / whole if steps[-1][0] >= 1.0 else 0.0


def _heat(subject: Subject, say: Translator) -> Spec | None:
    """Return the heat map of the worst document that has a quality matrix, or None; matched pairs are marked.

    With optimal transport, the size of a mark is the share of the gold entry matched there.
    """
    document = next((one for one in subject.explorer if one["matrix"]), None)
    if document is None:
        return None
    matrix = document["matrix"]
    gold, predicted = (list(map(int, axis)) for axis in axes_of(document["rows"]))
    shares = shares_of(document["rows"], matrix["plan"])
    rows = [
        {"gold": left, "predicted": right, "quality": matrix["quality"][y][x], "share": shares.get((y, x), 0.0)}
        for y, left in enumerate(gold)
        for x, right in enumerate(predicted)
    ]
    place = {"axis": {"labelAngle": 0, "labelOverlap": True}, "type": "ordinal"}
    return {
        "width": {"step": 11},
        "height": {"step": 11},
        "title": {"text": clipped(show_hidden(document["key"]), 60), "fontWeight": "normal", "fontSize": 11},
        "data": {"values": rows},
        "encoding": {
            "x": {"field": "predicted", "title": say("js.predicted"), **place},
            "y": {"field": "gold", "title": say("js.gold"), **place},
        },
        "layer": [
            {
                "mark": "rect",
                "encoding": {
                    "color": {
                        "field": "quality",
                        "type": "quantitative",
                        "scale": {"domain": [0, 1], "range": ["#fdfcf9", COLOURS[0]]},
                        "legend": {"title": say("threshold")},
                    }
                },
            },
            {
                "transform": [{"filter": "datum.share > 0"}],
                "mark": {
                    "type": "point",
                    "shape": "circle" if matrix["plan"] is None else "square",
                    "color": COLOURS[1],
                    "strokeWidth": 1.4,
                    "opacity": 1,
                },
                "encoding": {
                    "size": {
                        "field": "share",
                        "type": "quantitative",
                        "scale": {"domain": [0, 1], "range": [0, 34 if matrix["plan"] is None else 80]},
                        "legend": None,
                    }
                },
            },
        ],
    }


def axis(title: str) -> Spec:
    """Return the axis of a score."""
    return {"title": title, "tickCount": 5}


def name_of(subject: Subject) -> str:
    """Return the name of a system for figures."""
    return _short(subject.name or "arbitre")


def systems_by_path(subjects: Sequence[Subject], say: Translator) -> Spec:
    """Return a bar chart with a bar for every path, system and score."""
    rows = [
        {"path": show_hidden(row.path) or say("whole"), "system": name_of(one), "factor": name, "score": score}
        for one in subjects
        for row in one.paths
        for name in PARTS
        if (score := row.scores[name]) is not None
    ]
    made = _bars(rows, "system", [name_of(one) for one in subjects], say("system"))
    made["encoding"]["x"]["axis"] = {"title": say("micro"), "tickCount": 3}
    parts = {"field": "factor", "type": "nominal", "sort": list(PARTS), "title": None}
    made["encoding"]["column"] = parts | {"spacing": 12}
    return made | {"width": 130}


def levels_by_path(factor: FactorView, say: Translator) -> Spec:
    """Return a bar chart with a bar for every path and level of a factor."""
    names = [_level(one.name, say) for one in factor.levels]
    rows = [
        {"path": show_hidden(row.path) or say("whole"), "level": name, "score": score}
        for row in factor.paths
        for name, score in zip(names, row.scores, strict=True)
        if score is not None
    ]
    made = _bars(rows, "level", names, _short(factor.name))
    made["encoding"]["x"]["axis"] = axis(f"{factor.score}, {say('micro')}")
    return made | {"width": 260}


def _bars(rows: Sequence[Spec], series: str, names: Sequence[str], title: str) -> Spec:
    """Return bars by path, grouped by `series` if there are several names."""
    several = len(names) > 1
    encoding: Spec = {
        "x": {"field": "score", "type": "quantitative", "scale": UNIT},
        "y": {"field": "path", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 320}},
        "color": {
            "field": series,
            "type": "nominal",
            "sort": list(names),
            "legend": {"title": title} if several else None,
        },
    }
    if several:
        encoding["yOffset"] = {"field": series, "type": "nominal", "sort": list(names)}
    return {
        "height": {"step": 10 if several else 16},
        "data": {"values": list(rows)},
        "mark": "bar",
        "encoding": encoding,
    }


def leaderboard(systems: SystemsView, say: Translator) -> Spec:
    """Return a chart of the score of every system, with its interval if known."""
    rows = [{"system": _short(one.name)} | _ranged(one.score, one.interval) for one in systems.board]
    return {"data": {"values": rows}} | _points(
        "system", f"{systems.score}, {say(systems.average)}", intervals="low" in set().union(*rows)
    )


def differences(systems: SystemsView, say: Translator) -> Spec | None:
    """Return a chart of the difference of every two systems with its interval; None without known intervals.

    Filled points are significant differences.
    """
    rows = [
        {"pair": f"{_short(one.a)} − {_short(one.b)}", "difference": one.difference, "low": one.low, "high": one.high}
        | {"p": one.adjusted, "significant": one.significant, "label": probability(one.adjusted, "=", say)}
        for one in systems.tests or ()
        if one.low is not None and one.adjusted is not None
    ]
    if not rows:
        return None
    title = f"{say('difference')}, {systems.score}, {say(systems.average)}"
    x: Spec = {"field": "difference", "type": "quantitative", "axis": axis(title)}
    layers: list[Spec] = [
        {
            "mark": {"type": "rule", "color": "#6b6b6b", "strokeDash": [3, 3]},
            "encoding": {"x": {"datum": 0}, "y": None},
        },
        {
            "mark": {"type": "rule", "strokeWidth": 1.6, "color": COLOURS[0]},
            "encoding": {"x": x | {"field": "low"}, "x2": {"field": "high"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 60, "stroke": COLOURS[0], "opacity": 1},
            "encoding": {
                "x": x,
                "fill": {"condition": {"test": "datum.significant", "value": COLOURS[0]}, "value": "white"},
            },
        },
        {
            "mark": {"type": "text", "dy": -9, "fontSize": 9},
            "encoding": {"x": x, "text": {"field": "label"}},
        },
    ]
    return {
        "width": 320,
        "height": {"step": 26},
        "data": {"values": rows},
        "encoding": {"y": {"field": "pair", "type": "nominal", "sort": None, "title": None}},
        "layer": layers,
    }


def levels(factors: Sequence[FactorView], say: Translator) -> Spec:
    """Return a chart of the score of every factor level, with its interval if known, one row per factor."""
    rows = [
        {"factor": _short(factor.name), "level": _level(one.name, say)} | _ranged(one.score, one.interval)
        for factor in factors
        for one in factor.levels
    ]
    header = {"labelOrient": "top", "labelAngle": 0, "labelAnchor": "start", "labelAlign": "left", "labelPadding": -6}
    return {
        "data": {"values": rows},
        "facet": {"row": {"field": "factor", "type": "nominal", "sort": None, "title": None, "header": header}},
        "spec": _points(
            "level", f"{factors[0].score}, {say(factors[0].average)}", intervals="low" in set().union(*rows)
        ),
        "resolve": {"scale": {"y": "independent"}},
        "spacing": 12,
    }


def _ranged(score: float | None, interval: IntervalView | None) -> Spec:
    return {"score": score} | ({"low": interval.low, "high": interval.high} if interval else {})


def _points(place: str, title: str, *, intervals: bool) -> Spec:
    """Return labelled points with interval lines. `title` names the score and its average."""
    layers: list[Spec] = [
        {
            "mark": {"type": "point", "filled": True, "size": 60, "color": COLOURS[0], "opacity": 1},
            "encoding": {"x": {"field": "score", "type": "quantitative", "scale": UNIT, "axis": axis(title)}},
        },
        {
            "mark": {"type": "text", "dy": -9, "fontSize": 9},
            "encoding": {
                "x": {"field": "score", "type": "quantitative"},
                "text": {"field": "score", "format": ".3f"},
            },
        },
    ]
    if intervals:
        ends = {"x": {"field": "low", "type": "quantitative", "axis": axis(title)}, "x2": {"field": "high"}}
        layers.insert(0, {"mark": {"type": "rule", "strokeWidth": 1.6, "color": COLOURS[0]}, "encoding": ends})
    return {
        "width": 320,
        "height": {"step": 26},
        "encoding": {"y": {"field": place, "type": "nominal", "sort": None, "title": None}},
        "layer": layers,
    }


def _level(name: str, say: Translator) -> str:
    return _short(name or say("empty"))


def _short(name: str) -> str:
    return clipped(show_hidden(name), 40)
