"""Figures for publications: Vega-Lite specifications with their data in them, drawn as SVG, PDF and PNG."""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from arbitre.corpus.strict import unwritable
from arbitre.errors import ArbitreError
from arbitre.report.heat import axes_of, shares_of
from arbitre.report.language import Language, Say
from arbitre.report.tables import fresh
from arbitre.report.text import clipped, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from types import ModuleType

    from arbitre.report.view import Subject, View

Spec = dict[str, Any]

VEGA_LITE: Final = "6.4"
SCHEMA: Final = "https://vega.github.io/schema/vega-lite/v6.json"
SPECIFICATION: Final = ".vl.json"
SCALE: Final = 4.0
"""Pixels of a PNG for each point: 288 to the inch."""

FACTORS: Final = ("imq", "irq", "amq")
COLOURS: Final = ("#0f5d73", "#d98a3d", "#7a4f9a", "#5f7f3c", "#9e3d22", "#4b94a5", "#6b6b6b", "#b59f3b")
"""Told apart by every kind of colour vision, and in grey by the dashes and the order that go with them."""

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
_UNIT: Final[Spec] = {"domain": [0, 1]}


def specifications(view: View, language: Language = Language.EN) -> dict[str, Spec]:
    """The figures of a view by name: `survival`, `paths`, `heat` of the worst document, and `leaderboard` of several.

    A figure without anything to show is left out; each subject of several has a `heat-1`, `heat-2`, ...
    """
    say = Say(language)
    subjects = [one for one in view.subjects if one.curve.steps]
    found: dict[str, Spec | None] = {
        "survival": _survival(subjects, say) if subjects else None,
        "paths": _paths(view.subjects, say) if any(one.paths for one in view.subjects) else None,
        "leaderboard": _leaderboard(view),
    }
    for number, one in enumerate(view.subjects, 1):
        found["heat" if len(view.subjects) == 1 else f"heat-{number}"] = _heat(one, say)
    head = {"$schema": SCHEMA, "config": _CONFIG}
    return {name: head | spec for name, spec in found.items() if spec is not None}


def write_figures(folder: Path, view: View, language: Language = Language.EN) -> tuple[str, ...]:
    """Draw the figures of a view into a folder, each with its specification (`.vl.json`); the names of the files.

    Raises ArbitreError where the extra `report` is not installed, DataError where a file cannot be written.
    """
    draw = _drawing()
    names: list[str] = []
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
            _write(folder / f"{name}{end}", content)
            names.append(f"{name}{end}")
    return tuple(names)


def _drawing() -> ModuleType:
    try:
        return import_module("vl_convert")
    except ImportError as error:
        raise ArbitreError.of(
            "Expected vl-convert-python to be installed, to draw figures, got none",
            hint="pip install 'arbitre[report]'",
        ) from error


def _write(path: Path, content: str | bytes) -> None:
    if isinstance(content, str):
        with fresh(path) as file:
            file.write(content)
        return
    try:
        path.write_bytes(content)
    except OSError as error:
        raise unwritable(path, error) from error


def _axis(title: str) -> Spec:
    return {"title": title, "tickCount": 5}


def _name(subject: Subject) -> str:
    return clipped(visible(subject.name or "arbitre"), 40)


def _survival(subjects: Sequence[Subject], say: Say) -> Spec:
    """Exact steps: the share of gold of several systems, of gold and of the prediction of one."""
    several = len(subjects) > 1
    rows: list[Spec] = []
    for one in subjects:
        sides = {"gold": one.curve.gold} if several else {"gold": one.curve.gold, "predicted": one.curve.predicted}
        for side, whole in sides.items():
            line = _name(one) if several else say(f"curve.{side}")
            rows += [{"quality": x, "share": y, "line": line} for x, y in _stairs(one, whole)]
    lines = list(dict.fromkeys(row["line"] for row in rows))
    legend = {"title": say("system") if several else None, "symbolType": "stroke", "symbolSize": 300}
    return {
        "width": 360,
        "height": 220,
        "data": {"values": rows},
        "mark": {"type": "line", "interpolate": "step-before", "strokeWidth": 1.8},
        "encoding": {
            "x": {"field": "quality", "type": "quantitative", "scale": _UNIT, "axis": _axis(say("curve.x"))},
            "y": {
                "field": "share",
                "type": "quantitative",
                "scale": _UNIT,
                "axis": _axis(say("curve.gold") if several else say("curve.y")),
            },
            "color": {"field": "line", "type": "nominal", "sort": lines, "legend": legend},
            "strokeDash": {"field": "line", "type": "nominal", "sort": lines, "legend": legend},
            "order": {"field": "quality", "type": "quantitative"},
        },
    }


def _stairs(subject: Subject, whole: float) -> Iterator[tuple[float, float]]:
    """The points at which a line that falls before it goes on has its steps."""
    steps = subject.curve.steps
    if whole:
        yield 0.0, steps[0][1] / whole
        yield from ((quality, surviving / whole) for quality, surviving in steps)
        yield 1.0, steps[-1][1] / whole if steps[-1][0] >= 1.0 else 0.0


def _paths(subjects: Sequence[Subject], say: Say) -> Spec:
    """A bar for every path, system and factor."""
    rows = [
        {"path": visible(row.path) or say("whole"), "system": _name(one), "factor": name, "score": score}
        for one in subjects
        for row in one.paths
        for name in FACTORS
        if (score := row.scores[name]) is not None
    ]
    several = len(subjects) > 1
    systems = [_name(one) for one in subjects]
    encoding: Spec = {
        "x": {"field": "score", "type": "quantitative", "scale": _UNIT, "axis": {"title": None, "tickCount": 3}},
        "y": {"field": "path", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 320}},
        "column": {"field": "factor", "type": "nominal", "sort": list(FACTORS), "title": None, "spacing": 12},
        "color": {
            "field": "system",
            "type": "nominal",
            "sort": systems,
            "legend": {"title": say("system")} if several else None,
        },
    }
    if several:
        encoding["yOffset"] = {"field": "system", "type": "nominal", "sort": systems}
    return {"width": 130, "height": {"step": 10 if several else 16}, "data": {"values": rows}, "mark": "bar"} | {
        "encoding": encoding
    }


def _heat(subject: Subject, say: Say) -> Spec | None:
    """The qualities of all pairs of the worst document of which they are known, the pairs that were made marked.

    Where mass was moved the marks are squares, as large as the share of the gold entry that went there.
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
        "title": {"text": clipped(visible(document["key"]), 60), "fontWeight": "normal", "fontSize": 11},
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


def _leaderboard(view: View) -> Spec | None:
    """The score of every system, with its interval where that is known."""
    if view.systems is None:
        return None
    rows = [
        {"system": clipped(visible(one.name), 40), "score": one.score}
        | ({"low": one.interval.low, "high": one.interval.high} if one.interval else {})
        for one in view.systems.board
    ]
    place = {"field": "system", "type": "nominal", "sort": None, "title": None}
    axis = _axis(view.systems.score)
    layers: list[Spec] = [
        {
            "mark": {"type": "point", "filled": True, "size": 60, "color": COLOURS[0], "opacity": 1},
            "encoding": {"x": {"field": "score", "type": "quantitative", "scale": _UNIT, "axis": axis}},
        }
    ]
    if any("low" in row for row in rows):
        encoding = {"x": {"field": "low", "type": "quantitative", "axis": axis}, "x2": {"field": "high"}}
        layers.insert(0, {"mark": {"type": "rule", "strokeWidth": 1.6, "color": COLOURS[0]}, "encoding": encoding})
    label = {"mark": {"type": "text", "dy": -9, "fontSize": 9}, "encoding": {}}
    label["encoding"] = {"x": {"field": "score", "type": "quantitative"}, "text": {"field": "score", "format": ".3f"}}
    return {"width": 320, "height": {"step": 26}, "data": {"values": rows}} | {
        "encoding": {"y": place},
        "layer": [*layers, label],
    }
