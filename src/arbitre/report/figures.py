"""Figures of results, each specified once, for the page and for files.

A `Figure` contains its data, its texts and its kind of chart (`charts.py`), which draws SVG of a given width
(`drawing.py`). The page shows this SVG with classes, so that it follows the theme; the files contain the same SVG with
its style, in the width of a column and of a page, and are converted to PDF and PNG. A drawing takes about a millisecond
and needs no library. A general plotting library would have to run for every page (Vega-Lite: 0.5 s), and knows neither
how to keep shortened names different nor how to place names beside lines.
"""

from __future__ import annotations

import json
import re
import warnings
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from html import unescape
from importlib import import_module
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup

from arbitre.errors import ArbitreError, clipped, optional_library, show_hidden
from arbitre.language import Language, Translator
from arbitre.parsing.fast_json import compact, json_text, to_plain
from arbitre.paths import order
from arbitre.report.charts import Bars, Cell, Chart, Curve, Curves, Dots, Estimate, Estimates, Matrix, values_of
from arbitre.report.drawing import (
    COLUMN,
    FONT,
    MILLIMETRES,
    PAGE,
    POINTS,
    SCREEN,
    WIDE_SCREEN,
    Axis,
    Canvas,
    Medium,
    Unit,
    isolated,
)
from arbitre.report.quality_matrix import axes_of, shares_of
from arbitre.report.statistics_text import basis, contrast_basis, probability
from arbitre.storage.output_folder import output_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from types import ModuleType

    from arbitre.options import FigureWidth
    from arbitre.values import Json

    Plain = Mapping[str, Any]
    """A part of the view as JSON."""

PARTS: Final = ("imq", "irq", "amq")
"""Scores shown for every path."""
FEW: Final = 5
"""Maximum number of series that are drawn beside each other; more become the columns of a matrix."""
MAX_PATHS: Final = 40
"""Maximum number of paths in a figure; those with the lowest scores are shown."""
MAX_CAUSES: Final = 12
"""Maximum number of causes in a figure; those with the largest gain are shown."""
SHOWN: Final = 2
"""Number of systems of which the page shows figures of their own. Files contain those of all systems."""
CONFUSED: Final = 3
"""Number of confusion matrices of a system on the page. Files contain all."""
MEDIA: Final = {"column": COLUMN, "page": PAGE}
RESOLUTION: Final = 300.0
"""Pixels per inch of PNG files."""
_SCROLLER: Final = Markup('<div class="scroll" tabindex="0" role="region" aria-label="{}">{}</div>')
DATA: Final = ".json"
"""Extension of the files with the data and the texts of a figure."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of results.

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


def charts(view: Plain, say: Translator) -> list[dict[str, Any]]:
    """Return the figures of a view for a page: `name`, `title`, `caption` and `svg` of each, and whether it is `wide`.

    Args:
        view: The view as JSON.
        say: Translator of the language of the page.
    """
    made = []
    for figure in figures(view, say, systems=SHOWN):
        drawing = figure.svg(WIDE_SCREEN if figure.wide else SCREEN, say)
        if figure.wide:  # it keeps its size on a phone
            drawing = _SCROLLER.format(figure.title, drawing)
        texts = {name: getattr(figure, name) for name in ("name", "title", "caption", "wide")}
        made.append({**texts, "svg": drawing})
    return made


def figures(view: Plain, say: Translator, systems: int | None = None) -> list[Figure]:
    """Return the figures of a view that have data.

    Names: `survival`; `leaderboard` and `differences` (several systems); `causes`; `paths`; `levels` and
    `paths-<factor>` (factors); `calibration` (confidences); `confusion-1`, ... (paths with few values) and `heat`
    (worst document), for several systems `confusion-1-1`, ... and `heat-1`, ....

    Args:
        view: The view as JSON.
        say: Translator of the language.
        systems: Maximum number of systems of which figures of their own are returned; None for all.
    """
    subjects, compared, factors = view["subjects"], view["systems"], view["factors"]
    found: list[Figure | None] = [
        _survival([subject for subject in subjects if subject["curve"]["steps"]], say),
        _leaderboard(compared, say) if compared else None,
        _differences(compared, say) if compared else None,
        _causes(view, say),
        _paths(subjects, say),
        _levels(factors, say) if factors else None,
        _calibration(view["calibration"], say) if view["calibration"] else None,
    ]
    made = [figure for figure in found if figure is not None]
    names = _file_names([factor["name"] for factor in factors])
    made += [_levels_by_path(factor, name, say) for factor, name in zip(factors, names, strict=True) if factor["paths"]]
    several = len(subjects) > 1
    most = None if systems is None else CONFUSED
    for number, subject in enumerate(islice(subjects, systems), 1):
        for place, matrix in enumerate(subject["confusions"][:most], 1):
            made.append(
                _confusion(subject, matrix, f"confusion-{number}-{place}" if several else f"confusion-{place}", say)
            )
        heat = _heat(subject, f"heat-{number}" if several else "heat", say)
        made += [heat] if heat is not None else []
    return made


def _file_names(names: Sequence[str]) -> list[str]:
    """Return a different name for files for each name: with letters, digits and a few signs only."""
    made = [re.sub(r"[^\w.()+=-]+", "-", name).strip("-") or "-" for name in names]
    seen: Counter[str] = Counter()
    for at, name in enumerate(made):
        seen[name] += 1
        made[at] = name if seen[name] == 1 else f"{name}-{seen[name]}"
    return made


def write_figures(
    folder: Path,
    view: Plain,
    language: Language = Language.EN,
    *,
    width: FigureWidth = "both",
    inputs: Iterable[str | Path] = (),
    force: bool = False,
) -> tuple[str, ...]:
    """Write the figures of a view to a folder, each with its data and texts as JSON; see `output_folder`.

    Warns if the figures contain characters that are in no font.

    Args:
        folder: The folder.
        view: The view as JSON.
        language: Language of the figures.
        width: Width of the figures, which ends the names of their files.
        inputs: Files and folders that must not be in the folder.
        force: Whether to write beside files that arbitre did not write.

    Returns:
        The names of the files.

    Raises:
        ArbitreError: If the extra `report` is not installed.
        DataError: If a file cannot be written.
    """
    convert, say = _converter(), Translator(language)
    files: dict[str, bytes] = {}
    characters: set[str] = set()
    for figure in figures(view, say):
        files[f"{figure.name}{DATA}"] = json_text(to_plain(figure)).encode()
        for each, medium in MEDIA.items():
            if width in {"both", each}:
                name = f"{figure.name}-{each}"
                files[f"{name}.svg"] = figure.svg(medium, say, MILLIMETRES).encode()
                points = figure.svg(medium, say, POINTS)
                characters.update(*map(unescape, _TEXT.findall(points)))
                files[f"{name}.pdf"] = ordered_pdf(convert.svg_to_pdf(points))
                files[f"{name}.png"] = convert.svg_to_png(points, ppi=RESOLUTION)
    with output_folder(folder, files, "figures", inputs=inputs, force=force) as staging:
        for name, data in files.items():
            (staging / name).write_bytes(data)
    if missing := _without_font(convert, characters):
        listed = ", ".join([*missing[:FEW_CHARACTERS], *["…"] * (len(missing) > FEW_CHARACTERS)])
        warnings.warn(
            f"No font contains these characters, so PDF and PNG files show boxes instead: {listed}. {INSTALL_FONT}",
            stacklevel=3,
        )
    return tuple(files)


FEW_CHARACTERS: Final = 10
"""Maximum number of characters that the warning about missing fonts lists."""
INSTALL_FONT: Final = "Install a font that contains them, for example from the Noto family, and draw the figures again."
_TEXT: Final = re.compile(r">([^<>]+)</text>")
_PRIVATE_USE: Final = "\U0010fffd"
"""A private-use character that no font contains."""


def _without_font(convert: ModuleType, characters: Iterable[str]) -> list[str]:
    """Return the non-ASCII characters that no font contains: the converter draws the same box for each of them."""

    def drawn(character: str) -> bytes:
        head = f'<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20" font-family="{FONT}">'
        made: bytes = convert.svg_to_png(f'{head}<text y="15">{character}</text></svg>')
        return made

    unusual = sorted(character for character in characters if not character.isascii())
    box = drawn(_PRIVATE_USE) if unusual else b""
    return [character for character in unusual if drawn(character) == box]


def _converter() -> ModuleType:
    with optional_library("vl-convert-python", "report", "Drawing figures", ArbitreError):
        return import_module("vl_convert")


_ENTRIES: Final = re.compile(rb"(?:\n +/\w+ \d+ 0 R){2,}")
_REFERENCE: Final = re.compile(rb"\b(\d+) 0 R\b")


def ordered_pdf(pdf: bytes) -> bytes:
    """Return a PDF with its objects in the order of their references; vl-convert writes them in random order."""
    body, _, end = pdf.rpartition(b"startxref\n")
    start = int(end.split()[0])
    offsets = [int(row) for row in re.findall(rb"(\d{10}) \d{5} n", pdf[start:])]
    bounds = dict(pairwise([*sorted(offsets), start]))
    heads, streams = {}, {}
    for number, offset in enumerate(offsets, 1):
        text = pdf[offset : bounds[offset]].partition(b"obj\n")[2]
        head, mark, stream = text.partition(b"stream\n")
        heads[number] = _ENTRIES.sub(lambda found: b"\n".join(sorted(found[0].split(b"\n"))), head)
        streams[number] = mark + stream
    trailer = body[body.rindex(b"trailer") :]
    numbers: dict[int, int] = {}
    pending = [int(found) for found in _REFERENCE.findall(trailer)]
    while pending:
        number = pending.pop(0)
        if number not in numbers:
            numbers[number] = len(numbers) + 1
            pending += [int(found) for found in _REFERENCE.findall(heads[number])]

    def renumbered(text: bytes) -> bytes:
        return _REFERENCE.sub(lambda found: b"%d 0 R" % numbers[int(found[1])], text)

    made, table = pdf[: min(offsets)], b"0000000000 65535 f\r\n"
    for number, new in numbers.items():
        table += b"%010d 00000 n\r\n" % len(made)
        made += b"%d 0 obj\n%s%s" % (new, renumbered(heads[number]), streams[number])
    size = len(numbers) + 1
    last = re.sub(rb"/Size \d+", b"/Size %d" % size, renumbered(trailer))
    return made + b"xref\n0 %d\n%s%sstartxref\n%d\n%%%%EOF" % (size, table, last, len(made))


def score_name(score: str, say: Translator) -> str:
    """Return the name of a score in sentences and axes."""
    return say(f"score.{score}") if f"score.{score}" in say.names else score


def _name(name: str | None, say: Translator) -> str:
    return show_hidden(name or "") or say("empty")


def _sentence(*parts: str) -> str:
    """Join sentences, the first of which begins with a capital letter."""
    text = " ".join(part for part in parts if part)
    return text[:1].upper() + text[1:]


# Scores of systems and levels.


def _survival(subjects: Sequence[Plain], say: Translator) -> Figure | None:
    """Return the survival curves: of gold entries for several systems, of gold and predicted entries for one."""
    if not subjects:
        return None
    several = len(subjects) > 1
    curves = [
        Curve(
            _name(subject["name"], say) if several else say(f"figure.survival.{side}"),
            tuple(_steps(subject["curve"], subject["curve"][side])),
            area=not several and side == "gold",
        )
        for subject in subjects
        for side in (("gold",) if several else ("gold", "predicted"))
        if subject["curve"][side]
    ]
    most = max(subject["documents"] for subject in subjects)
    kind = "several" if several else "single"
    axes = Axis.unit(say("figure.survival.x")), Axis.unit(say(f"figure.survival.y.{kind}"))
    caption = say(f"figure.survival.caption.{kind}", documents=say("units.documents", n=most))
    return Figure("survival", say("figure.survival"), caption, Curves(*axes, tuple(curves)), wide=len(subjects) > FEW)


def _steps(curve: Plain, whole: float) -> Iterator[tuple[float, float]]:
    """Yield the points of the curve #{q >= t} / whole for t from 0 to 1; each value holds from the point before."""
    steps = curve["steps"]
    yield 0.0, steps[0][1] / whole
    yield from ((quality, surviving / whole) for quality, surviving in steps)
    yield 1.0, steps[-1][1] / whole if steps[-1][0] >= 1.0 else 0.0


def _leaderboard(systems: Plain, say: Translator) -> Figure | None:
    """Return the score of every system with its interval, best first."""
    board = systems["board"]
    if all(one["score"] is None for one in board):
        return None
    rows = [_estimate(_name(one["name"], say), one) for one in board]
    score, average = score_name(systems["score"], say), say(f"average.{systems['average']}")
    known = next((one["interval"] for one in board if one["interval"]), None)
    based = basis(known, systems["sampled"], say) if known else ""
    caption = _sentence(say("figure.leaderboard.caption", score=score, average=average), based)
    chart = Estimates(Axis.of(score, values_of(rows)), (("", tuple(rows)),))
    return Figure("leaderboard", say("figure.leaderboard", score=score), caption, chart)


def _estimate(label: str, one: Plain) -> Estimate:
    ends = one["interval"] or {"low": None, "high": None}
    return Estimate(label, one["score"], ends["low"], ends["high"])


def _differences(systems: Plain, say: Translator) -> Figure | None:
    """Return the differences of every two systems: as rows for a few systems, as a matrix for many."""
    tests = [test for test in systems["tests"] or () if test["difference"] is not None and test["adjusted"] is not None]
    if not tests:
        return None
    score, average = score_name(systems["score"], say), say(f"average.{systems['average']}")
    title = say("figure.differences", score=score)
    many = len(systems["board"]) > FEW
    significant = say(
        f"figure.differences.mark.{'many' if many else 'few'}",
        alpha=say.level(1.0 - systems["level"]),
        correction=tests[0]["correction"] or "–",
    )
    based = contrast_basis(tests, systems["sampled"], say)
    read = say(f"figure.differences.caption.{'many' if many else 'few'}", score=score, average=average)
    caption = _sentence(read, significant, based)
    if many:
        return Figure("differences", title, caption, _difference_matrix(systems["board"], tests, say), wide=True)
    rows = [
        Estimate(
            _name(test["a"], say),
            test["difference"],
            test["low"],
            test["high"],
            filled=test["significant"],
            minus=_name(test["b"], say),
        )
        for test in tests
    ]
    axis = Axis.of(say("figure.differences.x", score=score), values_of(rows), whole=True)
    return Figure("differences", title, caption, Estimates(axis, (("", tuple(rows)),), zero=True, signed=True))


def _difference_matrix(board: Sequence[Plain], tests: Sequence[Plain], say: Translator) -> Matrix:
    """Return the differences of the system of the row minus that of the column, best system first."""
    names = [one["name"] for one in board]
    found: dict[tuple[int, int], tuple[Plain, float]] = {}
    for test in tests:
        a, b = names.index(test["a"]), names.index(test["b"])
        found[min(a, b), max(a, b)] = test, 1.0 if a < b else -1.0
    most = max(abs(test["difference"]) for test in tests) or 1.0

    def signed(value: float) -> str:
        return f"{'+' if value > 0.0 else ''}{say.language.number(value, 2)}"

    def cell(row: int, column: int) -> Cell | None:
        if (row, column) not in found:
            return None
        test, sign = found[row, column]
        value = sign * test["difference"]
        full = f"{isolated(_name(names[row], say))} \u2212 {isolated(_name(names[column], say))}: {signed(value)}"
        if test["low"] is not None and test["high"] is not None:
            low, high = sorted((sign * test["low"], sign * test["high"]))
            full += f" [{signed(low)}{say('separator')}{signed(high)}]"
        full += f", {probability(test['adjusted'], '=', say)}"
        return Cell(value / most, signed(value), full, float(test["significant"]))

    size = len(names)
    cells = tuple(tuple(cell(row, column) for column in range(1, size)) for row in range(size - 1))
    shown = tuple(_name(name, say) for name in names)
    scale = tuple((shade, signed(shade * most)) for shade in (-1.0, 0.0, 1.0))
    if all(cell is None or cell.shade >= 0.0 for row in cells for cell in row):
        scale = scale[1:]
    return Matrix(shown[:-1], shown[1:], cells, ("", say("figure.differences.columns")), scale)


def _levels(factors: Sequence[Plain], say: Translator) -> Figure:
    """Return the score of every level of every factor, with its interval if known."""
    groups = tuple(
        (_name(factor["name"], say), tuple(_estimate(_name(one["name"], say), one) for one in factor["levels"]))
        for factor in factors
    )
    score, average = score_name(factors[0]["score"], say), say(f"average.{factors[0]['average']}")
    levels = [one for factor in factors for one in factor["levels"]]
    known = next((one for one in levels if one["interval"]), None)
    based = basis(known["interval"], known["sampled"], say) if known else ""
    caption = _sentence(say("figure.levels.caption", score=score, average=average), based)
    axis = Axis.of(score, values_of([row for _, rows in groups for row in rows]))
    return Figure("levels", say("figure.levels", score=score), caption, Estimates(axis, groups))


# Scores by path.


def _paths(subjects: Sequence[Plain], say: Translator) -> Figure | None:
    """Return the scores of every path: three scores of a few systems, or f1q of many."""
    scores = [{row["path"]: row["scores"] for row in subject["paths"]} for subject in subjects]
    every = sorted({path for found in scores for path in found}, key=order)
    if not every:
        return None
    paths = _lowest(every, [[found.get(path, {}).get("f1q") for found in scores] for path in every])
    series: Sequence[str] = [_name(subject["name"], say) for subject in subjects]
    many = len(subjects) > FEW
    parts = ("f1q",) if many else PARTS
    values = [[[found.get(path, {}).get(part) for found in scores] for path in paths] for part in parts]
    title = _sentence(say("figure.paths", score=score_name("f1q", say)) if many else say("figure.paths.parts"))
    names = say("separator").join(score_name(part, say) for part in parts)
    caption = say(f"figure.paths.caption.{'many' if many else 'few'}", scores=names)
    left = say("figure.paths.left", n=len(every), shown=len(paths)) if len(paths) < len(every) else ""
    panels: Sequence[str] = ("",) if many else PARTS
    if len(subjects) == 1:
        series, panels = [score_name(part, say) for part in PARTS], ("",)
        values = [[[subject.get(path, {}).get(part) for part in parts] for path in paths] for subject in scores]
    chart = _side_by_side(paths, series, panels, values, say)
    return Figure("paths", title, _sentence(caption, left), chart, wide=len(subjects) > 1)


def _levels_by_path(factor: Plain, name: str, say: Translator) -> Figure:
    """Return the score of every path at every level of a factor."""
    scores = {row["path"]: row["scores"] for row in factor["paths"]}
    paths = _lowest(list(scores), list(scores.values()))
    shown, score = _name(factor["name"], say), score_name(factor["score"], say)
    series = [_name(one["name"], say) for one in factor["levels"]]
    left = say("figure.paths.left", n=len(scores), shown=len(paths)) if len(paths) < len(scores) else ""
    caption = _sentence(say("figure.paths.levels.caption", score=score, factor=shown), left)
    title = _sentence(say("figure.paths.levels", score=score, factor=shown))
    chart = _side_by_side(paths, series, ("",), [[scores[path] for path in paths]], say)
    return Figure(f"paths-{name}", title, caption, chart, wide=len(series) > FEW)


def _lowest(paths: Sequence[str], scores: Sequence[Sequence[float | None]]) -> list[str]:
    """Return the paths with the lowest scores, in order."""
    least = [min((score for score in row if score is not None), default=1.0) for row in scores]
    ranked = sorted(range(len(paths)), key=lambda at: (least[at], at))
    return [paths[at] for at in sorted(ranked[:MAX_PATHS])]


def _side_by_side(
    paths: Sequence[str],
    series: Sequence[str],
    panels: Sequence[str],
    values: Sequence[Sequence[Sequence[float | None]]],
    say: Translator,
) -> Chart:
    """Return a chart with a row for each path, and with marks of a few series, or a column for each of many."""
    rows = tuple(show_hidden(path) or say("whole") for path in paths)
    axis = Axis.of("", [score for panel in values for row in panel for score in row if score is not None], most=4)
    if len(series) <= FEW:
        held = tuple(tuple(tuple(row) for row in panel) for panel in values)
        return Dots(axis, rows, tuple(series), tuple(panels), held)
    cells = tuple(
        tuple(
            None
            if score is None
            else Cell(
                axis.at(score, 0.0, 1.0),
                say.language.number(score, 2),
                f"{name}, {row}: {say.language.number(score, 2)}",
            )
            for name, score in zip(map(isolated, series), found, strict=True)
        )
        for row, found in zip(rows, values[0], strict=True)
    )
    scale = ((0.0, say.language.number(axis.low, axis.digits)), (1.0, say.language.number(axis.high, axis.digits)))
    return Matrix(rows, tuple(series), cells, scale=scale)


# Causes and single documents.


def _causes(view: Plain, say: Translator) -> Figure | None:
    """Return the costs of the causes with the largest gain, by system."""
    found = view.get("causes")
    if not found or not found["rows"]:
        return None
    subjects = view["subjects"]
    rows = found["rows"][:MAX_CAUSES]
    labels = tuple(_cause_name(row, say) for row in rows)
    several = len(subjects) > 1
    series = tuple(_name(subject["name"], say) if several else "" for subject in subjects)
    costs = [
        tuple(
            None if at is None else subject["causes"]["rows"][at]["cost"]
            for at, subject in zip(row["members"], subjects, strict=True)
        )
        for row in rows
    ]
    known = [subject["causes"]["documents"] for subject in subjects if subject["causes"] is not None]
    left = say("figure.causes.left", n=len(found["rows"]), shown=len(rows)) if len(rows) < len(found["rows"]) else ""
    caption = _sentence(say("figure.causes.caption", documents=say("units.documents", n=max(known))), left)
    if len(subjects) <= FEW:
        chart: Chart = Bars(say("figure.causes.x"), labels, series, tuple(costs), 3)
        return Figure("causes", say("figure.causes"), caption, chart)
    most = max((cost for row in costs for cost in row if cost is not None), default=0.0) or 1.0
    cells = tuple(
        tuple(
            None
            if cost is None
            else Cell(cost / most, say.language.number(cost, 3), f"{label}, {name}: {say.language.number(cost, 3)}")
            for name, cost in zip(map(isolated, series), row, strict=True)
        )
        for label, row in zip(labels, costs, strict=True)
    )
    scale = ((0.0, "0"), (1.0, say.language.number(most, 3)))
    return Figure("causes", say("figure.causes"), caption, Matrix(labels, series, cells, scale=scale), wide=True)


def _cause_name(row: Plain, say: Translator) -> str:
    name = say(f"cause.{row['kind']}")
    return f"{name} ({show_hidden(row['path']) or say('whole')})" if row["path"] is not None else name


def _calibration(calibration: Plain, say: Translator) -> Figure:
    """Return the mean confidence of the values of each bin, and the share of them that is correct."""

    def label(one: Plain) -> str:
        ends = f"{say.language.number(one['lower'], 2)}\u2013{say.language.number(one['upper'], 2)}"
        return say("figure.calibration.bin", bin=ends, n=one["leaves"])

    bins = calibration["bins"]
    series = say("figure.calibration.confidence"), say("figure.calibration.correct")
    values = tuple((one["confidence"], one["correct"]) for one in bins)
    axis = Axis.of("", [0.0, 1.0])
    chart = Dots(axis, tuple(map(label, bins)), series, ("",), (values,))
    auroc = calibration["auroc"]
    caption = say(
        "figure.calibration.caption",
        n=calibration["leaves"],
        ece=say.language.number(calibration["ece"], 2),
        auroc=say("unknown") if auroc is None else say.language.number(auroc, 2),
    )
    return Figure("calibration", say("figure.calibration"), caption, chart)


def _confusion(subject: Plain, matrix: Plain, name: str, say: Translator) -> Figure:
    """Return how often each gold value was predicted as each value, most confused values first."""
    labels = tuple(_label(label, say) for label in matrix["labels"])
    missing, spurious = say("figure.confusion.missing"), say("figure.confusion.spurious")
    rows, columns = (*labels[:-1], spurious), (*labels[:-1], missing)

    def cell(y: int, x: int) -> Cell | None:
        count, total = matrix["counts"][y][x], sum(matrix["counts"][y])
        if not count:
            return None
        number = say.language.number(count, 0 if float(count).is_integer() else 1)
        share = say.percent(count / total)
        full = say(
            "figure.confusion.cell", gold=isolated(rows[y]), predicted=isolated(columns[x]), n=number, share=share
        )
        return Cell(count / total, number, full, float(x == y))

    size = len(labels)
    cells = tuple(tuple(cell(y, x) for x in range(size)) for y in range(size))
    scale = tuple((shade, say.percent(shade) if shade else "0") for shade in (0.0, 0.5, 1.0))
    path = isolated(show_hidden(matrix["path"]) or say("whole"))
    of = f"{isolated(_name(subject['name'], say))}{say('separator')}{path}" if subject["name"] else path
    chart = Matrix(rows, columns, cells, (say("figure.heat.rows"), say("figure.heat.columns")), scale, apart=1)
    return Figure(name, say("figure.confusion", path=of), say("figure.confusion.caption"), chart)


def _label(label: Json, say: Translator) -> str:
    """Return the label of a confusion matrix as text; a text that looks like another JSON value is in quotes."""
    if isinstance(label, dict):
        return say("figure.confusion.other")
    if not isinstance(label, str):
        return compact(label)
    with suppress(ValueError):
        json.loads(label)
        return compact(label)
    return show_hidden(label)


def _heat(subject: Plain, name: str, say: Translator) -> Figure | None:
    """Return the qualities of all pairs of the worst document that has them; matched pairs are marked.

    With optimal transport, the area of a mark is the share of the gold entry matched there.
    """
    document = next((one for one in subject["explorer"] if one["matrix"]), None)
    if document is None:
        return None
    matrix = document["matrix"]
    gold, predicted = (tuple(map(str, axis)) for axis in axes_of(document["rows"]))
    shares = shares_of(document["rows"], matrix["plan"])
    cells = tuple(
        tuple(None if quality is None else Cell(quality, mark=shares.get((y, x), 0.0)) for x, quality in enumerate(row))
        for y, row in enumerate(matrix["quality"])
    )
    key = clipped(show_hidden(document["key"]), 60)
    of = f"{isolated(_name(subject['name'], say))}{say('separator')}{key}" if subject["name"] else key
    moved = matrix["plan"] is not None
    scale = tuple((shade, say.language.number(shade, 1)) for shade in (0.0, 0.5, 1.0))
    axes = say("figure.heat.rows"), say("figure.heat.columns")
    chart = Matrix(gold, predicted, cells, axes, scale, mark="square" if moved else "circle")
    caption = say(f"figure.heat.caption.{'moved' if moved else 'matched'}")
    return Figure(name, say("figure.heat", document=of), caption, chart)
