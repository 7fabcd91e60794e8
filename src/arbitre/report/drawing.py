"""Draws SVG of a given width: marks, text of known width, and labels that stay distinct and do not overlap.

Marks have classes, which `page/report/charts.css` styles. On the page they stay, so that a chart follows the theme. In
files, the same style is written as attributes, in the light colours, which every program that reads SVG understands.

Text is measured with the widths of Helvetica, which Arial and Liberation Sans share.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import accumulate, count
from typing import TYPE_CHECKING, Final, NamedTuple

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FONT: Final = "Liberation Sans, Arial, Helvetica, sans-serif"
_MILLIMETRE: Final = 96.0 / 25.4
"""Pixels per millimetre."""


@dataclass(frozen=True, slots=True)
class Medium:
    """Where a chart is shown.

    Attributes:
        width: Width of the chart, in pixels of 1/96 inch.
        font: Size of all text, in the same pixels.
        inlined: Whether the style is written as attributes, for files.
        slack: Factor for the width of text. A browser may have another font, such as Noto Sans.
    """

    width: float
    font: float
    inlined: bool = False
    slack: float = 1.0


COLUMN: Final = Medium(85.0 * _MILLIMETRE, 9.0, inlined=True)
"""One column of a printed page, 85 mm, with text of 6.75 pt."""
PAGE: Final = Medium(178.0 * _MILLIMETRE, 10.0, inlined=True)
"""The width of a printed page, 178 mm, with text of 7.5 pt."""
SCREEN: Final = Medium(420.0, 11.5, slack=1.14)
"""Part of the report."""
WIDE_SCREEN: Final = Medium(960.0, 12.0, slack=1.14)
"""The width of the report, for charts with many columns."""


class Unit(NamedTuple):
    """Unit of the size of a file: its name in SVG, and how many are in a pixel of 1/96 inch."""

    name: str
    size: float


MILLIMETRES: Final = Unit("mm", 1.0 / _MILLIMETRE)
POINTS: Final = Unit("", 0.75)
"""For conversion to PDF, which takes numbers without a unit as points."""


# Text.

_WIDTHS: Final = {
    191: "'",
    222: "ijl",
    260: "|",
    278: " !,./:;[\\]ft\u00a0\u2009\u202f",
    333: "()-`r",
    334: "{}",
    355: '"',
    389: "*",
    469: "^",
    500: "Jckvsxyz",
    556: "#$0123456789?_L\u2013abdeghnopqu",
    584: "+<=>~\u2212\u00b1",
    611: "FTZ",
    667: "&ABEKPSVXY",
    722: "CDHNRUw",
    778: "GOQ",
    833: "Mm",
    889: "%",
    944: "W",
    1000: "\u2026\u2014\u2192",
    1015: "@",
}
_CHARACTERS: Final = {character: width / 1000.0 for width, characters in _WIDTHS.items() for character in characters}
_UNKNOWN: Final = 0.7
"""Width of a character of another alphabet, relative to the size: more than most have."""

ELLIPSIS: Final = "…"
_WORD: Final = re.compile(r"[^\W_]+(?:\.\d+)*[\W_]?|[\W_]")
"""A word or a number, with the sign after it."""


@cache
def _character_width(character: str) -> float:
    known = _CHARACTERS.get(character)
    if known is not None:
        return known
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    return _CHARACTERS.get(unicodedata.normalize("NFD", character)[0], _UNKNOWN)


def text_width(text: str, size: float) -> float:
    """Return the width of a text of this size."""
    return size * math.fsum(map(_character_width, text))


def shortened(names: Sequence[str], room: float, size: float) -> list[str]:
    """Replace a part of each name that is wider than the room by an ellipsis; different names stay different.

    The ellipsis is in the middle. Names that would be equal then show where they differ or, if there is no room for
    that, a number.

    >>> shortened([*(f"extraction-with-seed-{seed}-and-a-long-prompt" for seed in (17, 18)), "small"], 130, 12)
    ['ext…seed-17-…', 'ext…seed-18-…', 'small']
    """
    made = {name: _without_middle(name, room, size) for name in names}
    for attempt in (_differing_parts, _from_difference, _numbered):
        equal: dict[str, list[str]] = {}
        for name, text in made.items():
            equal.setdefault(text, []).append(name)
        for group in equal.values():
            if len(group) > 1:
                made |= dict(zip(group, attempt(group, room, size), strict=True))
    return [made[name] for name in names]


_RIGHT_TO_LEFT: Final = frozenset({"R", "AL", "AN"})


def isolated(name: str) -> str:
    """Return a name for a text with other names: if it is written from right to left, their order must not change."""
    written = {unicodedata.bidirectional(character) for character in name}
    return f"\u2068{name}\u2069" if written & _RIGHT_TO_LEFT else name


def _without_middle(name: str, room: float, size: float, head: float = 0.6) -> str:
    """Shorten a name to the room; `head` is the share of the room for its beginning."""
    if text_width(name, size) <= room:
        return name
    left = room - text_width(ELLIPSIS, size)
    begin = _fitting(name, left * head, size)
    end = _fitting(name[::-1], left - text_width(name[:begin], size), size)
    return f"{name[:begin].rstrip()}{ELLIPSIS}{name[len(name) - end :].lstrip()}"


def _fitting(name: str, room: float, size: float) -> int:
    """Return the number of characters at the beginning of a name that fit into the room."""
    return sum(width <= room for width in accumulate(size * _character_width(character) for character in name))


def _differing_parts(names: Sequence[str], room: float, size: float) -> list[str]:
    """Shorten names to the words in which they differ, with the word before each if there is room."""
    words = [_WORD.findall(name) for name in names]
    if len({len(parts) for parts in words}) > 1:
        return [_without_middle(name, room, size) for name in names]
    differing = [at for at, parts in enumerate(zip(*words, strict=True)) if len(set(parts)) > 1]
    for before in (1, 0):
        kept = {at for each in differing for at in range(max(each - before, 0), each + 1)}
        made = []
        for parts in words:
            text = "" if 0 in kept else parts[0][:3]
            for at, part in enumerate(parts):
                text += part if at in kept else "" if text.endswith(ELLIPSIS) else ELLIPSIS
            made.append(text)
        if all(text_width(text, size) <= room for text in made):
            break
    return [_without_middle(text, room, size) for text in made]


def _from_difference(names: Sequence[str], room: float, size: float) -> list[str]:
    """Shorten names to what begins where the first of them differ."""
    same = 0
    while all(len(name) > same for name in names) and len({name[same] for name in names}) == 1:
        same += 1
    start = ELLIPSIS if same > 1 else ""
    left = room - text_width(start, size)
    return [start + _without_middle(name[max(same - 1, 0) :], left, size, 1.0) for name in names]


def _numbered(names: Sequence[str], room: float, size: float) -> list[str]:
    ends = [f" #{number}" for number in range(1, len(names) + 1)]
    return [
        isolated(_without_middle(name, room - text_width(end, size), size, 1.0)) + end
        for name, end in zip(names, ends, strict=True)
    ]


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move positions apart until neighbours have at least this gap, as little as possible, within [low, high].

    The order of equal positions stays. If there is no room for all gaps, they are smaller.

    >>> spread([10.0, 11.0, 50.0], 4.0, 0.0, 100.0)
    [8.5, 12.5, 50.0]
    """
    if not wanted:
        return []
    gap = min(gap, (high - low) / max(len(wanted) - 1, 1))
    order = sorted(range(len(wanted)), key=lambda at: wanted[at])
    blocks: list[tuple[float, int]] = []  # mean of the positions without their gaps, and their number
    for place, at in enumerate(order):
        mean, size = wanted[at] - place * gap, 1
        while blocks and blocks[-1][0] > mean:
            above, held = blocks.pop()
            mean, size = (above * held + mean * size) / (held + size), held + size
        blocks.append((mean, size))
    most = high - gap * (len(wanted) - 1)
    flat = [min(max(mean, low), most) for mean, size in blocks for _ in range(size)]
    found = [0.0] * len(wanted)
    for place, (at, base) in enumerate(zip(order, flat, strict=True)):
        found[at] = base + place * gap
    return found


# Scales.

_STEPS: Final = (1.0, 2.0, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis with a linear scale.

    Attributes:
        title: Name of the quantity.
        low: Lower end of the scale.
        high: Upper end.
        ticks: Values with a tick.
        digits: Number of decimals of the ticks.
    """

    title: str
    low: float
    high: float
    ticks: tuple[float, ...]
    digits: int

    @classmethod
    def of(cls, title: str, values: Sequence[float], *, most: int = 5, whole: bool = False) -> Axis:
        """Return the axis that shows all values, with at most this many intervals between round ticks.

        Args:
            title: Name of the quantity.
            values: The values.
            most: Maximum number of intervals.
            whole: Whether the axis shows 0 too.
        """
        low, high = min(values, default=0.0), max(values, default=1.0)
        if whole:
            low, high = min(low, 0.0), max(high, 0.0)
        if high - low < 1e-6:  # noqa: PLR2004
            scores = 0.0 <= low <= high <= 1.0  # no ticks outside the range of scores
            low, high = low - 0.05 * (not whole), high + 0.05
            if scores:
                low, high = max(low, 0.0), min(high, 1.0)
        rough = (high - low) / most
        unit = 10.0 ** math.floor(math.log10(rough))
        step = next(unit * factor for factor in _STEPS if unit * factor >= rough * (1.0 - 1e-9))
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        digits = next(digits for digits in count() if abs(step - round(step, digits)) < step * 1e-6)
        ticks = tuple(round(number * step, digits) for number in range(first, last + 1))
        return cls(title, ticks[0], ticks[-1], ticks, digits)

    @classmethod
    def unit(cls, title: str, ticks: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)) -> Axis:
        """Return the axis from 0 to 1."""
        return cls(title, 0.0, 1.0, ticks, 1 if len(ticks) == 3 else 2)  # noqa: PLR2004

    def at(self, value: float, start: float, end: float) -> float:
        """Return the position of a value on a line from `start` to `end`."""
        return start + (end - start) * (value - self.low) / (self.high - self.low)


# Drawing.

_RULE: Final = re.compile(r"([^{}]+)\{([^{}]*)\}")
_CLASS: Final = re.compile(r"\.chart (?:\.([\w-]+)|(text))")
_COLOUR: Final = re.compile(r"(--[\w-]+): light-dark\((#\w+),")


@cache
def _style() -> dict[str, dict[str, str]]:
    """Return the attributes of each class of the charts, and of all text, in light colours."""
    sheets = (
        files("arbitre.report").joinpath("page", *name)
        for name in (("shared", "palette.css"), ("report", "charts.css"))
    )
    palette, charts = (re.sub(r"/\*.*?\*/", "", sheet.read_text(encoding="utf-8"), flags=re.DOTALL) for sheet in sheets)
    colours = dict(_COLOUR.findall(palette + charts))
    found: dict[str, dict[str, str]] = {}
    for selectors, body in _RULE.findall(charts):
        rules = dict(re.findall(r"([\w-]+): ([^;]+);", body))
        rules = {
            name: re.sub(r"var\((--[\w-]+)\)", lambda match: colours[match[1]], rule) for name, rule in rules.items()
        }
        for selector in selectors.split(","):
            if match := _CLASS.fullmatch(selector.strip()):
                found.setdefault(match[1] or match[2], {}).update(rules)
    return found


def _number(value: float) -> str:
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


@dataclass(slots=True)
class Canvas:
    """Collects the elements of a drawing.

    Attributes:
        medium: Where the drawing is shown.
        elements: The elements so far.
    """

    medium: Medium
    elements: list[str] = field(default_factory=list)

    @property
    def size(self) -> float:
        """Size of the text."""
        return self.medium.font

    def width_of(self, text: str) -> float:
        """Return the width of a text in this drawing."""
        return text_width(text, self.size) * self.medium.slack

    def shortened(self, names: Sequence[str], room: float) -> list[str]:
        """Return names that fit into the room; see `shortened`."""
        return shortened(names, room / self.medium.slack, self.size)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        kind: str = "label",
        *,
        anchor: str = "start",
        full: str = "",
        turned: bool = False,
    ) -> None:
        """Draw a text that is vertically centred at y.

        Args:
            x: Position of the anchor.
            y: Vertical centre.
            text: The text.
            kind: Its classes.
            anchor: "start", "middle" or "end".
            full: The full text, for a tooltip, if `text` is shortened.
            turned: Whether the text reads from bottom to top. `x` is then its horizontal centre, and y its anchor.
        """
        if not text:
            return
        attributes = {"x": _number(x), "y": _number(y + 0.35 * self.size)}
        if turned:
            attributes = {"transform": f"translate({_number(x + 0.35 * self.size)} {_number(y)})rotate(-90)"}
        if anchor != "start":
            attributes["text-anchor"] = anchor
        self._add("text", kind, attributes, text, full if full != text else "")

    def path(self, kind: str, d: str, *, full: str = "", opacity: float | None = None) -> None:
        """Draw a path, with an optional tooltip."""
        if d:
            shade = {} if opacity is None else {"fill-opacity": _number(opacity)}
            self._add("path", kind, {"d": d, **shade}, "", full)

    def svg(self, height: float, label: str, unit: Unit | None = None) -> Markup:
        """Return the drawing.

        Args:
            height: Height of the drawing, in pixels.
            label: Description for people who cannot see it.
            unit: Unit in which a file states its size; None on a page, where the size is that of its surroundings.
        """
        width = self.medium.width
        extent = f'viewBox="0 0 {_number(width)} {_number(height)}" font-size="{_number(self.size)}"'
        described = Markup('role="img" aria-label="{}"').format(label)
        body = "".join(self.elements)
        if unit is None:
            return Markup(f'<svg class="chart" {extent} {described}>{body}</svg>')  # noqa: S704  (escaped above)
        sides = (
            f'{side}="{_number(length * unit.size)}{unit.name}"'
            for side, length in (("width", width), ("height", height))
        )
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {" ".join(sides)} {extent} font-family="{FONT}" {described}>'
        ground = f'<path d="M0 0h{_number(width)}v{_number(height)}H0z" fill="#fff"/>'
        return Markup(f"{head}{ground}{body}</svg>\n")  # noqa: S704  (escaped above)

    def _add(self, tag: str, kind: str, attributes: Mapping[str, str], text: str = "", full: str = "") -> None:
        styled = {"class": kind}
        if self.medium.inlined:
            styled = {}
            for name in ([tag] if tag == "text" else []) + kind.split():
                styled |= _style().get(name, {})
            colour = styled.pop("color", "")
            styled = {name: colour if value == "currentcolor" else value for name, value in styled.items()}
        written = "".join(f' {name}="{value}"' for name, value in {**styled, **attributes}.items())
        content = (f"<title>{escape(full)}</title>" if full else "") + str(escape(text))
        self.elements.append(f"<{tag}{written}>{content}</{tag}>" if content else f"<{tag}{written}/>")
