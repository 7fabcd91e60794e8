"""Matrices as charts: cells with colours, numbers and marks, such as confusion matrices and pairwise differences."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from arbitre.report.charts import LABELS, dot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arbitre.language import Translator
    from arbitre.report.drawing import Canvas

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
