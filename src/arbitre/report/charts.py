"""The kinds of charts: what each shows, and how it is drawn.

A chart is a value that contains all data, texts and marks of a figure. `draw` draws it on a canvas of any width and
returns the height.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal, Protocol

from arbitre.report.drawing import Axis, Canvas, isolated, spread

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
        text = say.language.number(value, 2)
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
    texts = [say.language.number(tick, axis.digits) for tick in axis.ticks]
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


# Matrices: cells with colours, numbers and marks, such as confusion matrices and pairwise differences.


OPACITY: Final = 0.65
"""Opacity of the strongest colour; text on it is still readable."""
SHADES: Final = 20
"""Number of shades in which cells without a tooltip are drawn, each as one path."""
TURNED: Final = 0.3
"""Maximum height of turned labels of columns, relative to the width of the chart."""
TALLEST: Final = 14.0
"""Maximum height of turned labels, relative to the size of the text."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a matrix.

    Attributes:
        shade: Strength of its colour, from -1 to 1; negative values have another colour.
        text: Number in the cell.
        full: What the number means, as a tooltip.
        mark: Size of the mark in the cell, relative to the cell; 0 for none.
    """

    shade: float
    text: str = ""
    full: str = ""
    mark: float = 0.0


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix of cells.

    Attributes:
        rows: Names of the rows.
        columns: Names of the columns.
        cells: The cells, row by row; None for an empty one.
        axes: Titles of the rows and of the columns.
        scale: Meaning of the lightest and of the darkest colour.
        mark: Shape of the marks.
        apart: Number of rows and of columns at the end that are set apart.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[Cell | None, ...], ...]
    axes: tuple[str, str] = ("", "")
    scale: tuple[tuple[float, str], ...] = ()
    mark: Literal["frame", "circle", "square"] = "frame"
    apart: int = 0

    def draw(self, canvas: Canvas, say: Translator) -> float:  # noqa: ARG002  (as all charts)
        """Draw the chart and return its height."""
        grid = _Grid.of(self, canvas)
        grid.labels(canvas)
        for y, row in enumerate(self.cells):
            for x, cell in enumerate(row):
                if cell is not None and cell.full:
                    kind = "less" if cell.shade < 0.0 else "more"
                    canvas.path(kind, grid.box(x, y), full=cell.full, opacity=OPACITY * abs(cell.shade))
        for (kind, level), d in sorted(self._shades(grid).items()):
            canvas.path(kind, d, opacity=OPACITY * level / SHADES)
        shape = "frame" if self.mark == "frame" else "ring"
        canvas.path(shape, "".join(self._marks(grid)))
        if grid.written:
            for y, row in enumerate(self.cells):
                for x, cell in enumerate(row):
                    if cell is not None:
                        middle, height = grid.middle(x, y)
                        weight = "strong" if self.mark == "frame" and cell.mark else "label"
                        canvas.text(middle, height, cell.text, weight, anchor="middle")
        return self._legend(canvas, grid.bottom) if self.scale else grid.bottom + 0.2 * canvas.size

    def _shades(self, grid: _Grid) -> dict[tuple[str, int], str]:
        """Return the paths of all cells without a tooltip, by colour and shade; equal neighbours are joined."""
        found: dict[tuple[str, int], str] = defaultdict(str)
        for y, row in enumerate(self.cells):
            levels = [None if cell is None or cell.full else round(cell.shade * SHADES) for cell in row]
            start = 0
            while start < len(levels):
                level, stop = levels[start], start + 1
                while stop < len(levels) and levels[stop] == level:
                    stop += 1
                if level:
                    found["less" if level < 0 else "more", abs(level)] += grid.box(start, y, stop - start)
                start = stop
        return found

    def _marks(self, grid: _Grid) -> Iterator[str]:
        for y, row in enumerate(self.cells):
            for x, cell in enumerate(row):
                if cell is None or not cell.mark:
                    continue
                if self.mark == "frame":
                    yield grid.box(x, y, inset=0.7)
                    continue
                middle, height = grid.middle(x, y)
                side = 0.4 * min(grid.width, grid.height) * cell.mark**0.5
                if self.mark == "circle":
                    yield dot(middle, height, side)
                else:
                    yield f"M{middle - side:.2f} {height - side:.2f}h{2 * side:.2f}v{2 * side:.2f}h{-2 * side:.2f}Z"

    def _legend(self, canvas: Canvas, bottom: float) -> float:
        """Draw the meaning of the colours and return the height of the chart."""
        size, y, x = canvas.size, bottom + 0.8 * canvas.size, 0.0
        for shade, text in self.scale:
            canvas.path(
                "less" if shade < 0.0 else "more",
                f"M{x:.2f} {y:.2f}h{size:.2f}v{size:.2f}h{-size:.2f}Z",
                opacity=OPACITY * abs(shade),
            )
            canvas.path("grid", f"M{x:.2f} {y:.2f}h{size:.2f}v{size:.2f}h{-size:.2f}Z")
            canvas.text(x + 1.4 * size, y + 0.5 * size, text, "soft")
            x += 2.6 * size + canvas.width_of(text)
        return y + 1.4 * size


def _every(size: float, side: float) -> int:
    """Return how many labels of cells with this side share the room of one."""
    return max(1, math.ceil(1.15 * size / side))


@dataclass(frozen=True, slots=True)
class _Grid:
    """Positions of the cells of a matrix on a canvas."""

    matrix: Matrix
    left: float
    top: float
    width: float
    height: float
    gap: float
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    turned: bool
    written: bool
    every: tuple[int, int] = field(default=(1, 1))

    @classmethod
    def of(cls, matrix: Matrix, canvas: Canvas) -> _Grid:
        size, room = canvas.size, canvas.medium.width
        rows = canvas.shortened(matrix.rows, LABELS * room)
        left = max(map(canvas.width_of, rows), default=0.0) + 0.6 * size
        left = max(left, canvas.width_of(matrix.axes[0]) + 0.6 * size)
        gap = 0.5 * size if matrix.apart else 0.0
        widest = max((canvas.width_of(cell.text) for row in matrix.cells for cell in row if cell), default=0.0)
        wide = (room - left - gap) / max(len(matrix.columns), 1)
        width = min(wide, max(widest + 1.2 * size, 4.0 * size) if widest else 1.7 * size)
        written = 0.0 < widest <= width - 0.3 * size
        height = min(width, 1.7 * size) if not written else 1.7 * size
        turned = any(canvas.width_of(name) > width - 0.4 * size for name in matrix.columns)
        columns = canvas.shortened(matrix.columns, min(TURNED * room, TALLEST * size) if turned else width)
        title = 1.6 * size if matrix.axes[1] else 0.0
        top = title + (max(map(canvas.width_of, columns), default=0.0) + 0.5 * size if turned else 1.6 * size)
        every = _every(size, height), _every(size, width) if turned else 1
        return cls(matrix, left, top, width, height, gap, tuple(rows), tuple(columns), turned, written, every)

    def x(self, column: int) -> float:
        return self.left + column * self.width + self.gap * (column >= len(self.columns) - self.matrix.apart)

    def y(self, row: int) -> float:
        return self.top + row * self.height + self.gap * (row >= len(self.rows) - self.matrix.apart)

    def middle(self, column: int, row: int) -> tuple[float, float]:
        return self.x(column) + self.width / 2.0, self.y(row) + self.height / 2.0

    def box(self, column: int, row: int, cells: int = 1, *, inset: float = 0.0) -> str:
        """Return the path of neighbouring cells of a row."""
        width, height = cells * self.width - 2.0 * inset, self.height - 2.0 * inset
        return f"M{self.x(column) + inset:.2f} {self.y(row) + inset:.2f}h{width:.2f}v{height:.2f}h{-width:.2f}Z"

    @property
    def bottom(self) -> float:
        return self.y(len(self.rows) - 1) + self.height

    def labels(self, canvas: Canvas) -> None:
        size, (rows, columns) = canvas.size, self.matrix.axes
        canvas.text(self.left, 0.7 * size, columns, "soft")
        canvas.text(self.left - 0.6 * size, self.top - 0.9 * size, rows, "soft", anchor="end")
        for at, (short, full) in enumerate(zip(self.rows, self.matrix.rows, strict=True)):
            if at % self.every[0] == 0:
                canvas.text(self.left - 0.6 * size, self.middle(0, at)[1], short, anchor="end", full=full)
        for at, (short, full) in enumerate(zip(self.columns, self.matrix.columns, strict=True)):
            if at % self.every[1] == 0:
                x = self.middle(at, 0)[0]
                if self.turned:
                    canvas.text(x, self.top - 0.4 * size, short, full=full, turned=True)
                else:
                    canvas.text(x, self.top - 0.9 * size, short, anchor="middle", full=full)
