"""Figures for publications: Vega-Lite specifications with inline data, rendered as SVG, PDF and PNG."""

from __future__ import annotations

import json
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from arbitre.corpus.storage.output_folder import output_folder
from arbitre.errors import ArbitreError, clipped, show_hidden
from arbitre.report.documents.quality_matrix import axes_of, shares_of
from arbitre.report.figures.comparisons import (
    COLOURS,
    UNIT,
    axis,
    differences,
    leaderboard,
    levels,
    levels_by_path,
    name_of,
    systems_by_path,
)
from arbitre.report.html.language import Language, Translator

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path
    from types import ModuleType

    from arbitre.report.figures.comparisons import Spec
    from arbitre.report.html.view import Subject, View

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
