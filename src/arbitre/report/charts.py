"""The kinds of charts: what each shows, and how it is drawn.

A chart is a value that contains all data, texts and marks of a figure. `draw` draws it on a canvas of any width and
returns the height.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Protocol

from arbitre.report.drawing import Axis, Canvas, isolated, spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.language import Translator

COLOURS: Final = 6
"""Number of colours of series, and of the classes `s0`, `s1`, ... in the style."""
DASHES: Final = 5
"""Number of line patterns, and of the classes `d0` (solid), `d1`, ..."""
LEADER: Final = 2.4
"""Length of the line from the end of a curve to its label, relative to the size of the text."""
HEIGHT: Final = 26.0
"""Maximum height of a plot of curves, relative to the size of the text."""
LABELS: Final = 0.34
"""Maximum width of labels at the side of a chart, relative to its width."""


class Chart(Protocol):
    """A chart that can be drawn in any width."""

    def draw(self, canvas: Canvas, say: Translator) -> float:
        """Draw the chart and return its height."""
        ...


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve of steps: (x, y) points, each with the value y from the x of the point before; `area` if it is filled."""

    name: str
    points: tuple[tuple[float, float], ...]
    area: bool = False


@dataclass(frozen=True, slots=True)
class Curves:
    """Curves with their names beside the ends, distinguished by colour and line pattern."""

    x: Axis
    y: Axis
    curves: tuple[Curve, ...]

    def draw(self, canvas: Canvas, say: Translator) -> float:
        """Draw the chart and return its height."""
        size, width = canvas.size, canvas.medium.width
        names = canvas.shortened([curve.name for curve in self.curves], LABELS * width)
        ticks = [say.language.number(tick, self.y.digits) for tick in self.y.ticks]
        left = max(map(canvas.width_of, ticks)) + 0.6 * size
        right = width - max(map(canvas.width_of, names)) - (LEADER + 0.4) * size
        top, line = 2.1 * size, 1.25 * size
        bottom = top + max(min(0.62 * (right - left), HEIGHT * size), line * len(self.curves))
        canvas.text(0.0, 0.7 * size, self.y.title, "soft")
        for tick, text in zip(self.y.ticks, ticks, strict=True):
            canvas.text(left - 0.5 * size, self.y.at(tick, bottom, top), text, "soft", anchor="end")
        canvas.path(
            "grid", "".join(f"M{left:.1f} {self.y.at(tick, bottom, top):.1f}H{right:.1f}" for tick in self.y.ticks)
        )
        height = horizontal_axis(canvas, self.x, (left, right), bottom, say)
        ends = [self.y.at(curve.points[-1][1], bottom, top) for curve in self.curves]
        places = spread(ends, line, top, bottom)
        for number, (curve, name, end, place) in enumerate(zip(self.curves, names, ends, places, strict=True)):
            kind = f"s{number % COLOURS}"
            (x, y), *rest = [(self.x.at(x, left, right), self.y.at(y, bottom, top)) for x, y in curve.points]
            steps = f"M{x:.2f} {y:.2f}" + "".join(f"V{y:.2f}H{x:.2f}" for x, y in rest)
            if curve.area:
                canvas.path(f"area {kind}", f"{steps}V{bottom:.2f}H{left:.2f}Z")
            canvas.path(f"line {kind} d{number % DASHES}", steps, full=curve.name)
            leader = f"M{right:.2f} {end:.2f}L{right + 0.8 * size:.2f} {place:.2f}H{right + LEADER * size:.2f}"
            canvas.path("leader", leader)
            canvas.text(right + (LEADER + 0.3) * size, place, name, full=curve.name)
        return height


@dataclass(frozen=True, slots=True)
class Estimate:
    """A row of a chart of estimates.

    Attributes:
        label: Name of what is estimated; for a difference, of the first of two.
        minus: Name of the second.
        value: The estimate; None if it is unknown.
        low: Lower end of its interval, if known.
        high: Upper end.
        filled: Whether its mark is filled.
    """

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    filled: bool = True
    minus: str = ""

    @property
    def name(self) -> str:
        """The name, or the names of the two as a difference."""
        return f"{isolated(self.label)} \u2212 {isolated(self.minus)}" if self.minus else self.label


@dataclass(frozen=True, slots=True)
class Estimates:
    """Estimates with their intervals, one below the other, in groups that may have a title (a forest plot)."""

    x: Axis
    groups: tuple[tuple[str, tuple[Estimate, ...]], ...]
    zero: bool = False
    signed: bool = False

    def draw(self, canvas: Canvas, say: Translator) -> float:
        """Draw the chart and return its height."""
        size, width = canvas.size, canvas.medium.width
        rows = [row for _, rows in self.groups for row in rows]
        numbers = [self._numbers(row, say) for row in rows]
        names = self._names(canvas, rows)
        left = max(map(canvas.width_of, names)) + 1.2 * size
        right = width - max(map(canvas.width_of, numbers)) - 1.2 * size
        step, y = 1.7 * size, 0.2 * size
        marks: list[tuple[Estimate, float]] = []
        at = iter(zip(rows, names, numbers, strict=True))
        for title, members in self.groups:
            if title:
                (text,) = canvas.shortened([title], width)
                canvas.text(0.0, y + 0.5 * step, text, "strong", full=title)
                y += step
            for _ in members:
                row, name, number = next(at)
                canvas.text(left - 1.2 * size, y + 0.5 * step, name, anchor="end", full=row.name)
                canvas.text(width, y + 0.5 * step, number, anchor="end")
                marks.append((row, y + 0.5 * step))
                y += step
        bottom = y + 0.3 * size
        grid = [tick for tick in self.x.ticks if not (self.zero and tick == 0.0)]
        canvas.path(
            "grid", "".join(f"M{self.x.at(tick, left, right):.1f} {0.2 * size:.1f}V{bottom:.1f}" for tick in grid)
        )
        if self.zero:
            canvas.path("zero", f"M{self.x.at(0.0, left, right):.1f} {0.2 * size:.1f}V{bottom:.1f}")
        for row, y in marks:
            self._mark(canvas, row, y, left, right)
        return horizontal_axis(canvas, self.x, (left, right), bottom, say)

    def _names(self, canvas: Canvas, rows: Sequence[Estimate]) -> list[str]:
        """Return the names of the rows. Those of a difference are shortened one by one."""
        room = LABELS * canvas.medium.width
        if not self.zero:
            return canvas.shortened([row.label for row in rows], room)
        every = list(dict.fromkeys(name for row in rows for name in (row.label, row.minus)))
        short = dict(zip(every, canvas.shortened(every, (1.2 * room - canvas.width_of(" \u2212 ")) / 2.0), strict=True))
        return [replace(row, label=short[row.label], minus=short[row.minus]).name for row in rows]

    def _numbers(self, row: Estimate, say: Translator) -> str:
        text = self._number(row.value, say)
        if row.low is not None and row.high is not None:
            text += f" [{self._number(row.low, say)}{say('separator')}{self._number(row.high, say)}]"
        return text

    def _number(self, value: float | None, say: Translator) -> str:
        text = say.language.number(value, 2).replace("-", "\u2212")
        return f"+{text}" if self.signed and value is not None and value > 0.0 else text

    def _mark(self, canvas: Canvas, row: Estimate, y: float, left: float, right: float) -> None:
        radius = 0.33 * canvas.size
        if row.low is not None and row.high is not None:
            low, high = (self.x.at(end, left, right) for end in (row.low, row.high))
            cap = f"{y - radius:.2f}v{2 * radius:.2f}"
            canvas.path("line s0", f"M{low:.2f} {cap}M{low:.2f} {y:.2f}H{high:.2f}M{high:.2f} {cap}")
        if row.value is not None:
            canvas.path("full s0" if row.filled else "hollow s0", dot(self.x.at(row.value, left, right), y, radius))


def dot(x: float, y: float, radius: float) -> str:
    """Return the path of a circle."""
    arc = f"a{radius:.2f} {radius:.2f} 0 1 1"
    return f"M{x - radius:.2f} {y:.2f}{arc} {2 * radius:.2f} 0{arc} {-2 * radius:.2f} 0Z"


def horizontal_axis(canvas: Canvas, axis: Axis, ends: tuple[float, float], bottom: float, say: Translator) -> float:
    """Draw the ticks and the title of an axis below a chart, without ticks that would overlap; return the height."""
    size, (left, right) = canvas.size, ends
    texts = [say.language.number(tick, axis.digits).replace("-", "\u2212") for tick in axis.ticks]
    places = [axis.at(tick, left, right) for tick in axis.ticks]
    every = 1
    widths = list(map(canvas.width_of, texts))
    while any(
        places[after] - places[before] < (widths[before] + widths[after]) / 2.0 + 0.5 * size
        for before, after in pairwise(range(0, len(texts), every))
    ):
        every += 1
    for place, text in list(zip(places, texts, strict=True))[::every]:
        canvas.text(place, bottom + 1.15 * size, text, "soft", anchor="middle")
    room = canvas.medium.width
    middle = min(max((left + right) / 2.0, canvas.width_of(axis.title) / 2.0), room - canvas.width_of(axis.title) / 2.0)
    canvas.text(middle, bottom + 2.4 * size, axis.title, "soft", anchor="middle")
    return bottom + (3.1 if axis.title else 1.9) * size


def values_of(rows: Sequence[Estimate]) -> list[float]:
    """Return all values and ends of intervals."""
    return [value for row in rows for value in (row.value, row.low, row.high) if value is not None]


@dataclass(frozen=True, slots=True)
class Dots:
    """Values of several series by row, in one panel for each quantity; marks of series differ in colour and shape.

    `values` has a list of rows for each panel, with the value of each series.
    """

    x: Axis
    rows: tuple[str, ...]
    series: tuple[str, ...]
    panels: tuple[str, ...]
    values: tuple[tuple[tuple[float | None, ...], ...], ...]

    def draw(self, canvas: Canvas, say: Translator) -> float:
        """Draw the chart and return its height."""
        size, width = canvas.size, canvas.medium.width
        several = len(self.series) > 1
        head = legend(canvas, self.series) if several else 0.0
        names = canvas.shortened(self.rows, LABELS * width)
        first = max(map(canvas.width_of, names), default=0.0) + 1.2 * size
        step, gap, margin = 1.5 * size, 2.2 * size, 1.2 * size
        room = (width - first - margin - gap * (len(self.panels) - 1)) / len(self.panels)
        top = head + (1.6 * size if any(self.panels) else 0.3 * size)
        bottom = top + step * len(self.rows)
        for row, (short, full) in enumerate(zip(names, self.rows, strict=True)):
            canvas.text(first - 1.2 * size, top + (row + 0.5) * step, short, anchor="end", full=full)
        for panel, (title, values) in enumerate(zip(self.panels, self.values, strict=True)):
            left = first + panel * (room + gap)
            right = left + room
            canvas.text((left + right) / 2.0, head + 0.7 * size, title, "strong", anchor="middle")
            places = [(self.x.at(tick, left, right), top) for tick in self.x.ticks]
            canvas.path("grid", "".join(f"M{x:.1f} {y:.1f}V{bottom:.1f}" for x, y in places))
            marks = [
                (number, self.x.at(value, left, right), top + (row + 0.5) * step)
                for row, found in enumerate(values)
                for number, value in enumerate(found)
                if value is not None
            ]
            for number in range(len(self.series)):
                shapes = (shape(number, x, y, 0.36 * size) for of, x, y in marks if of == number)
                canvas.path(f"{mark_kind(number)} s{number % COLOURS}", "".join(shapes), full=self.series[number])
            end = horizontal_axis(canvas, self.x, (left, right), bottom, say)
        return end


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars of one or several series for each of several groups, with their numbers; longer bars are greater values.

    `values` has the value of each series for each group; None if it has none.
    """

    title: str
    groups: tuple[str, ...]
    series: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    digits: int

    def draw(self, canvas: Canvas, say: Translator) -> float:
        """Draw the chart and return its height."""
        size, width = canvas.size, canvas.medium.width
        several = len(self.series) > 1
        labels = canvas.shortened(self.groups, width if several else 1.3 * LABELS * width)
        names = canvas.shortened(self.series, LABELS * width) if several else labels
        texts = [[say.language.number(value, self.digits) for value in row] for row in self.values]
        left = max(map(canvas.width_of, names), default=0.0) + 0.8 * size
        right = width - max((canvas.width_of(text) for row in texts for text in row), default=0.0) - 0.5 * size
        most = max((value for row in self.values for value in row if value is not None), default=0.0) or 1.0
        canvas.text(0.0, 0.7 * size, self.title, "soft")
        y, step = 1.9 * size, 1.45 * size
        bars = [""] * len(self.series)
        baseline = ""
        for label, group, row, written in zip(labels, self.groups, self.values, texts, strict=True):
            if several:
                canvas.text(0.0, y + 0.5 * step, label, "strong", full=group)
                y += step
            baseline += f"M{left:.1f} {y:.1f}v{step * len(row):.1f}"
            for number, (value, text) in enumerate(zip(row, written, strict=True)):
                name, full = (names[number], self.series[number]) if several else (label, group)
                canvas.text(
                    left - 0.8 * size, y + 0.5 * step, name, "soft" if several else "label", anchor="end", full=full
                )
                length = (right - left) * max(value or 0.0, 0.0) / most
                bars[number] += f"M{left:.2f} {y + 0.18 * step:.2f}h{length:.2f}v{0.64 * step:.2f}h{-length:.2f}Z"
                canvas.text(left + length + 0.4 * size, y + 0.5 * step, text)
                y += step
            y += 0.5 * step if several else 0.0
        for number, d in enumerate(bars):
            canvas.path(f"bar s{number % COLOURS}", d)
        canvas.path("grid", baseline)
        return y


def legend(canvas: Canvas, series: Sequence[str]) -> float:
    """Draw the marks and names of series above a chart, in as many lines as they need; return the height."""
    size, width = canvas.size, canvas.medium.width
    x, y = 0.0, 0.8 * size
    for number, (short, full) in enumerate(zip(canvas.shortened(series, 0.9 * width), series, strict=True)):
        wide = 1.2 * size + canvas.width_of(short)
        if x and x + wide > width:
            x, y = 0.0, y + 1.5 * size
        canvas.path(f"{mark_kind(number)} s{number % COLOURS}", shape(number, x + 0.5 * size, y, 0.36 * size))
        canvas.text(x + 1.2 * size, y, short, full=full)
        x += wide + 1.4 * size
    return y + 1.2 * size


SHAPES: Final = 4
"""Number of shapes of marks. Further series have the same shapes, hollow."""


def mark_kind(number: int) -> str:
    """Return the class of the marks of a series."""
    return "hollow" if number % (2 * SHAPES) >= SHAPES else "full"


def shape(number: int, x: float, y: float, radius: float) -> str:
    """Return the path of a mark of a series: a circle, a square, a triangle or a diamond."""
    if number % SHAPES == 0:
        return dot(x, y, radius)
    side = 0.9 * radius
    square = f"M{x - side:.2f} {y - side:.2f}h{2 * side:.2f}v{2 * side:.2f}h{-2 * side:.2f}Z"
    wide = 1.2 * radius
    triangle = f"M{x:.2f} {y - wide:.2f}l{wide:.2f} {2 * side:.2f}h{-2 * wide:.2f}Z"
    diamond = f"M{x:.2f} {y - wide:.2f}l{wide:.2f} {wide:.2f}l{-wide:.2f} {wide:.2f}l{-wide:.2f} {-wide:.2f}Z"
    return (square, triangle, diamond)[number % SHAPES - 1]
