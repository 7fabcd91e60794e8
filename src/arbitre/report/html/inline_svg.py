"""Inline SVG charts of the page. Every scale runs from 0 to 1.

Inline charts follow the theme of the page, can be printed, and need no script and no other file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup

from arbitre.report.entry_classes import GLYPHS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arbitre.report.html.language import Translator

WIDTH: Final = 560
HEIGHT: Final = 240
LEFT: Final = 52
TOP: Final = 12
_TICKS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)


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


def survival(subject: Mapping[str, Any], say: Translator) -> Markup:
    """Return the survival curve as SVG: share of gold (solid, with its area) and of the prediction (dashed)."""
    curve = subject["curve"]
    steps: Sequence[tuple[float, float]] = curve["steps"]
    sides = {side: _stairs(steps, curve[side]) for side in ("gold", "predicted") if curve[side]}
    points = ", ".join(
        f"≥ {say.language.number(point['threshold'], 1)}: {say.language.number(point['recall'], 2)}"
        for point in curve["thresholds"]
    )
    parts = [
        Markup('<svg class="survival" viewBox="0 0 {} {}" role="img" aria-label="{}">').format(
            LEFT + WIDTH + 24, TOP + HEIGHT + 44, say("curve.label", points=points)
        )
    ]
    parts += _axes(say)
    if "gold" in sides:
        bottom = TOP + HEIGHT
        parts.append(Markup('<path class="area" d="{} V{} H{} Z"/>').format(sides["gold"], bottom, LEFT))
    parts += [Markup('<path class="stairs {}" d="{}"/>').format(side, line) for side, line in sides.items()]
    parts.append(Markup("</svg>"))
    return Markup("").join(parts)


def _x(quality: float) -> float:
    return LEFT + WIDTH * quality


def _y(share: float) -> float:
    return TOP + HEIGHT * (1.0 - share)


def _stairs(steps: Sequence[tuple[float, float]], whole: float) -> str:
    """Return the SVG path of #{q >= t} / whole for t from 0 to 1."""
    line = f"M{LEFT} {_y(steps[0][1] / whole):.2f}"
    for place, (quality, _) in enumerate(steps):
        after = steps[place + 1][1] if place + 1 < len(steps) else 0.0
        line += f" H{_x(quality):.2f} V{_y(after / whole):.2f}"
    return f"{line} H{_x(1.0):.2f}"


def _axes(say: Translator) -> Iterator[Markup]:
    for tick in _TICKS:
        text = say.language.number(tick, 2)
        yield Markup('<path class="grid" d="M{0} {1}H{2}"/>').format(LEFT, f"{_y(tick):.2f}", LEFT + WIDTH)
        yield Markup('<text class="tick end" x="{}" y="{}">{}</text>').format(LEFT - 6, f"{_y(tick) + 4:.2f}", text)
        yield Markup('<text class="tick middle" x="{}" y="{}">{}</text>').format(
            f"{_x(tick):.2f}", TOP + HEIGHT + 18, text
        )
    middle = LEFT + WIDTH / 2
    yield Markup('<text class="tick middle" x="{}" y="{}">{}</text>').format(
        f"{middle:.0f}", TOP + HEIGHT + 38, say("curve.x")
    )
    for place, side in enumerate(("gold", "predicted")):
        y = TOP + HEIGHT - 34 + 18 * place
        yield Markup('<path class="stairs {}" d="M{} {}h28"/><text class="tick" x="{}" y="{}">{}</text>').format(
            side, LEFT + 10, y, LEFT + 44, y + 4, say(f"curve.{side}")
        )
