"""Figures that compare systems or factor levels, overall and by path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from arbitre.errors import clipped, show_hidden
from arbitre.report.html.wording import probability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.report.html.language import Translator
    from arbitre.report.html.view import FactorView, IntervalView, Subject, SystemsView

Spec = dict[str, Any]

PARTS: Final = ("imq", "irq", "amq")
"""Scores shown for every path."""

COLOURS: Final = ("#0f5d73", "#d98a3d", "#7a4f9a", "#5f7f3c", "#9e3d22", "#4b94a5", "#6b6b6b", "#b59f3b")
"""Palette for all kinds of colour vision; in greyscale, dashes and order distinguish the series."""

UNIT: Final[Spec] = {"domain": [0, 1]}


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
