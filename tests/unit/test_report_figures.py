"""Figures: their data, their labels, their files, and equal bytes for equal data."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
import warnings
from dataclasses import replace
from html import unescape

import pytest
from tests.unit.test_report_view import PAIRS, PEOPLE, filled, made_factor, observed
from typer.testing import CliRunner

import arbitre
from arbitre.cli import app
from arbitre.language import Language, Translator
from arbitre.report.build_view import build_subject
from arbitre.report.drawing import COLUMN, MILLIMETRES, PAGE, SCREEN, WIDE_SCREEN, text_width
from arbitre.report.figures import charts, figures, write_figures
from arbitre.report.report_files import view_of
from arbitre.report.view import IntervalView, LeaderboardRow, PairwiseTest, SystemsView, View

pytestmark = pytest.mark.slow

EN, FR = Translator(Language.EN), Translator(Language.FR)
LONG = [f"vision-model-72b-temperature-{heat}-seed-{seed}-prompt-verbose-json" for heat in (0, 2) for seed in range(8)]
HEBREW = "נתונים היסטוריים של הפרלמנט הצרפתי גרסה שנייה"


def single(pairs=PAIRS):
    return view_of([build_subject(*observed(PEOPLE, pairs))])


def ranked(names):
    """A view of many systems, the first of which is best."""
    subject = build_subject(*observed(PEOPLE, PAIRS))
    scores = [0.9 - 0.02 * at for at in range(len(names))]
    board = [
        LeaderboardRow(name, score, IntervalView(score - 0.03, score + 0.02, 0.95, "bca"))
        for name, score in zip(names, scores, strict=True)
    ]
    tests = [
        PairwiseTest(names[b], names[a], scores[b] - scores[a], -0.4, 0.1, 0.01, 0.03, 0.001, 9, significant=b - a > 3)
        for a, b in itertools.combinations(range(len(names)), 2)
    ]
    return View("0", [replace(subject, name=name) for name in names], SystemsView("f1q", board, tests, []))


def drawn(view, say=EN):
    return {figure.name: figure for figure in figures(view.to_dict(), say)}


def test_the_view_determines_the_figures():
    assert list(drawn(single())) == ["survival", "paths", "heat"]
    assert list(drawn(filled())) == [
        *("survival", "leaderboard", "differences", "paths", "levels", "paths-ocr", "heat-1", "heat-2")
    ]
    assert drawn(single([])) == {}


def test_the_page_has_the_figures_of_two_systems_and_the_files_those_of_all():
    view = ranked(["a", "b", "c"])
    heats = [name for name in drawn(view) if name.startswith("heat")]
    assert heats == ["heat-1", "heat-2", "heat-3"]
    assert [chart["name"] for chart in charts(view.to_dict(), EN) if chart["name"] in heats] == heats[:2]


def test_the_survival_curve_has_exact_steps_and_the_right_area():
    view = single()
    for curve, score in zip(drawn(view)["survival"].chart.curves, ("irq", "imq"), strict=True):
        area = sum((after[0] - before[0]) * after[1] for before, after in itertools.pairwise(curve.points))
        (line,) = [one for one in view.subjects[0].headline if one.name == score]
        assert area == pytest.approx(line.micro, abs=1e-12)


def test_the_area_on_the_page_is_that_of_the_curve():
    """The drawing has the same steps: the area is that of the plot times irq."""
    view = single()
    (path,) = re.findall(r'class="area s0" d="M([^"]+)Z"', drawn(view)["survival"].svg(SCREEN, EN))
    numbers = [float(number) for number in re.findall(r"-?\d+\.?\d*", path)]
    bottom, left = numbers[-2:]
    points = zip(numbers[2:-2:2], numbers[3:-2:2], strict=True)
    area, x = 0.0, numbers[0]
    for height, right in points:
        area += (right - x) * (bottom - height)
        x = right
    svg = drawn(view)["survival"].svg(SCREEN, EN)
    top = min(float(y) for y in re.findall(r"M[\d.]+ ([\d.]+)H", re.search(r'class="grid" d="([^"]+)"', svg)[1]))
    (line,) = [one for one in view.subjects[0].headline if one.name == "irq"]
    assert area / ((x - left) * (bottom - top)) == pytest.approx(line.micro, abs=1e-3)


def test_survival_curves_end_at_quality_1_and_thin_leaders_connect_them_to_their_names():
    svg = drawn(ranked(["a", "b", "c"]))["survival"].svg(SCREEN, EN)
    right = float(re.search(r'class="grid" d="M[\d.]+ [\d.]+H([\d.]+)', svg)[1])
    curves = re.findall(r'class="line s\d d\d" d="([^"]+)"', svg)
    leaders = re.findall(r'class="leader" d="M([\d.]+) ', svg)
    assert len(curves) == len(leaders) == 3
    for curve in curves:
        assert max(float(x) for x in re.findall(r"[MHL]([\d.]+)", curve)) == pytest.approx(right, abs=0.1)
    assert [float(x) for x in leaders] == pytest.approx([right] * 3, abs=0.1)


def test_the_path_figure_has_every_path_system_and_score():
    chart = drawn(filled())["paths"].chart
    assert chart.rows == ("/page", "/people/*", "/people/*/name", "/people/*/pages/*")
    assert (chart.series, len(chart.panels)) == (("careful", "hasty"), 3)
    rows = {row.path: row.scores for row in filled().subjects[0].paths}
    for part, values in zip(("imq", "irq", "amq"), chart.values, strict=True):
        assert values == tuple((rows[path][part],) * 2 for path in chart.rows)


def test_the_paths_of_many_systems_are_a_matrix_of_f1q():
    names = [f"s{at}" for at in range(7)]
    chart = drawn(ranked(names))["paths"].chart
    assert chart.columns == tuple(names)
    rows = {row.path: row.scores["f1q"] for row in single().subjects[0].paths}
    assert [row[0].text for row in chart.cells] == [f"{rows[path]:.2f}" for path in chart.rows]


def test_the_heat_map_marks_the_assignment():
    cells = drawn(single(PAIRS[:1]))["heat"].chart.cells
    marks = [(y, x) for y, row in enumerate(cells) for x, cell in enumerate(row) if cell.mark == 1.0]
    assert marks == [(0, 1), (1, 0)]
    assert [len(row) for row in cells] == [2, 2]


def test_the_leaderboard_has_intervals_where_they_are_known():
    ((_, rows),) = drawn(filled())["leaderboard"].chart.groups
    assert [(row.label, row.value, row.low, row.high) for row in rows] == [
        ("careful", 0.5, 0.4, 0.6),
        ("hasty", None, None, None),
    ]


def test_the_differences_of_a_few_systems_are_rows():
    ((_, rows),) = drawn(ranked(["a", "b", "c"]))["differences"].chart.groups
    assert [(row.name, round(row.value, 9), row.filled) for row in rows] == [
        ("b \u2212 a", -0.02, False),
        ("c \u2212 a", -0.04, False),
        ("c \u2212 b", -0.02, False),
    ]


def test_the_differences_of_many_systems_are_a_matrix_of_row_minus_column():
    names = [f"s{at}" for at in range(15)]
    figure = drawn(ranked(names))["differences"]
    chart = figure.chart
    assert (chart.rows, chart.columns) == (tuple(names[:-1]), tuple(names[1:]))
    for a, row in enumerate(chart.cells):
        for b, cell in enumerate(row, 1):
            if b <= a:
                assert cell is None
                continue
            assert cell.text == f"+{0.02 * (b - a):.2f}"
            assert cell.full == f"s{a} \u2212 s{b}: +{0.02 * (b - a):.2f} [\u22120.10, +0.40], p = 0.03"
            assert cell.mark == (b - a > 3)
    assert figure.svg(WIDE_SCREEN, EN).count("+0.28</text>") == 2  # the cell and the legend


def test_names_from_right_to_left_keep_the_order_of_a_difference():
    ((_, rows),) = drawn(ranked(["a", HEBREW, f"{HEBREW} 2"]))["differences"].chart.groups
    assert rows[0].name == f"\u2068{HEBREW}\u2069 \u2212 a"


def test_levels_have_intervals_where_they_are_known_and_every_factor_its_own_lines():
    chart = drawn(replace(single(), factors=[made_factor()]), FR)["levels"].chart
    ((title, rows),) = chart.groups
    assert title == "ocr"
    assert [(row.label, row.value, row.low, row.high) for row in rows] == [
        ("(vide)", 0.25, None, None),
        ("good", 0.5, 0.4, 0.6),
    ]


def test_the_level_figure_has_every_path_and_level():
    chart = drawn(filled())["paths-ocr"].chart
    assert (chart.rows, chart.series) == (("/*", "/*/name"), ("(empty)", "good"))
    assert chart.values == (((0.3, None), (0.2, 0.6)),)


def test_factor_names_become_distinct_file_names():
    names = ["model/prompt", "model prompt", "modèle (1)", "a:b", "\ud800", "?"]
    found = drawn(View("0", (), None, [replace(made_factor(), name=name) for name in names]))
    assert list(found)[1:] == [
        f"paths-{name}" for name in ("model-prompt", "model-prompt-2", "modèle-(1)", "a-b", "-", "--2")
    ]


# Labels.


def boxes(svg, medium):
    """The text and the box of every label: left, top, right and bottom."""
    for written, shown in re.findall(r"<text ([^>]*)>(?:<title>[^<]*</title>)?([^<]*)</text>", svg):
        given, text = dict(re.findall(r'([\w-]+)="([^"]*)"', written)), unescape(shown)
        width, size = text_width(text, medium.font) * medium.slack, medium.font
        if turn := given.get("transform"):
            x, y = map(float, re.findall(r"[\d.]+", turn)[:2])
            yield text, (x - 0.7 * size, y - width, x, y)
        else:
            anchor = {"start": 0.0, "middle": 0.5, "end": 1.0}[given.get("text-anchor", "start")]
            x, y = float(given["x"]) - anchor * width, float(given["y"])
            yield text, (x, y - 0.7 * size, x + width, y)


VIEWS = {
    "filled": filled,
    "single": single,
    "one document": lambda: single(PAIRS[:1]),
    "perfect": lambda: single([(name, gold, gold) for name, gold, _ in PAIRS]),
    "failed": lambda: single([(name, gold, arbitre.ABSENT) for name, gold, _ in PAIRS]),
    "fifteen": lambda: ranked([f"system {at}" for at in range(15)]),
    "long": lambda: ranked([*LONG[:13], HEBREW, f"{HEBREW} 2"]),
    "few long": lambda: ranked([*LONG[:2], HEBREW]),
}


@pytest.mark.parametrize("say", [EN, FR], ids=["en", "fr"])
@pytest.mark.parametrize("made", VIEWS.values(), ids=VIEWS)
def test_labels_do_not_overlap_are_distinct_and_inside(made, say):
    for figure in figures(made().to_dict(), say):
        for medium in (COLUMN, PAGE, WIDE_SCREEN if figure.wide else SCREEN):
            svg = figure.svg(medium, say, MILLIMETRES)
            height = float(re.search(r'viewBox="0 0 [\d.]+ ([\d.]+)"', svg)[1])
            found = list(boxes(svg, medium))
            for text, (left, top, right, bottom) in found:
                assert -0.1 <= left <= right <= medium.width + 0.1, (figure.name, text)
                assert -0.1 <= top <= bottom <= height + 0.1, (figure.name, text)
            for (one, a), (two, b) in itertools.combinations(found, 2):
                apart = a[2] <= b[0] + 0.05 or b[2] <= a[0] + 0.05 or a[3] <= b[1] + 0.05 or b[3] <= a[1] + 0.05
                assert apart, (figure.name, medium.width, one, two)


def test_shortened_names_of_fifteen_systems_differ_in_every_figure():
    view = ranked(LONG[:15])
    for name, figure in drawn(view).items():
        if name in {"survival", "leaderboard", "paths"}:
            shown = [text for text, _ in boxes(figure.svg(COLUMN, EN, MILLIMETRES), COLUMN) if "…" in text]
            assert len(shown) == len(set(shown)) == 15, name


@pytest.mark.parametrize(("medium", "points"), [(COLUMN, 241), (PAGE, 505)], ids=["column", "page"])
def test_text_in_print_has_at_least_six_and_a_half_points(medium, points):
    assert medium.width * 0.75 == pytest.approx(points, abs=0.5)
    assert medium.font * 0.75 >= 6.5


# Files.


def test_a_page_has_no_style_attribute_and_a_file_no_class():
    for figure in drawn(filled()).values():
        assert "style=" not in figure.svg(SCREEN, EN)
        assert "class=" not in figure.svg(PAGE, EN, MILLIMETRES)


def test_equal_views_give_equal_bytes():
    first, second = (json.dumps(charts(filled().to_dict(), FR)) for _ in range(2))
    assert first == second


def test_data_is_never_read_as_markup():
    (svg,) = [chart["svg"] for chart in charts(ranked(["<b>&", "b"]).to_dict(), EN) if chart["name"] == "leaderboard"]
    assert "<b>" not in svg
    assert "&lt;b&gt;&amp;</text>" in svg


@pytest.mark.slow
def test_figures_are_written_in_both_widths_with_their_data(tmp_path):
    pytest.importorskip("vl_convert", reason="vl-convert is not installed: pip install 'arbitre[report]'")
    plain = filled().to_dict()
    names = write_figures(tmp_path / "one", plain, Language.FR)
    write_figures(tmp_path / "two", plain, Language.FR)
    assert len(names) == 8 * 7
    for name in names:
        data = (tmp_path / "one" / name).read_bytes()
        start = {"svg": b"<svg", "pdf": b"%PDF", "png": b"\x89PNG", "json": b"{\n"}[name.rpartition(".")[2]]
        assert data.startswith(start), name
        assert data == (tmp_path / "two" / name).read_bytes(), name
    data = json.loads((tmp_path / "one" / "leaderboard.json").read_text(encoding="utf-8"))
    assert data["title"] == "Systèmes par score F1 gradué (f1q)"
    assert data["chart"]["groups"][0][1][0]["value"] == 0.5
    assert 'width="85mm"' in (tmp_path / "one" / "paths-column.svg").read_text(encoding="utf-8")
    assert "0,5" in (tmp_path / "one" / "leaderboard-page.svg").read_text(encoding="utf-8")
    only = write_figures(tmp_path / "page", plain, width="page")
    assert {name for name in only if "column" in name} == set()
    assert "paths-page.pdf" in only


@pytest.mark.slow
def test_a_warning_names_the_characters_that_no_font_contains(tmp_path):
    pytest.importorskip("vl_convert", reason="vl-convert is not installed: pip install 'arbitre[report]'")
    private = [chr(0x10FF00 + number) for number in range(12)]
    with pytest.warns(UserWarning, match="No font contains") as caught:
        write_figures(tmp_path / "two", ranked(["Zoé, “è” \U0010ff00", "<&> \U0010ff01"]).to_dict(), width="page")
    install = "Install a font that contains them, for example from the Noto family, and draw the figures again."
    assert [str(one.message) for one in caught] == [
        f"No font contains these characters, so PDF and PNG files show boxes instead: {private[0]}, {private[1]}. {install}"
    ]
    with pytest.warns(UserWarning, match="No font contains") as caught:
        write_figures(tmp_path / "many", ranked([f"a{one}" for one in private]).to_dict(), width="page")
    (message,) = (str(one.message) for one in caught)
    assert message.endswith(f"instead: {', '.join(private[:10])}, …. {install}")
    assert FR.text(message) == (
        f"Aucune police ne contient ces caractères\u202f; les fichiers PDF et PNG affichent des rectangles à leur place\u00a0: "
        f"{', '.join(private[:10])}, …. "
        "Installez une police qui les contient, par exemple de la famille Noto, puis redessinez les figures."
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write_figures(tmp_path / "none", ranked(["Zoé", "è"]).to_dict(), width="page")


def test_the_command_prints_warnings_as_notes(monkeypatch):
    def warn(*_, **__):
        warnings.warn("No font contains these characters, so PDF and PNG files show boxes instead: क.", stacklevel=2)
        return ("paths.svg",)

    monkeypatch.setattr("arbitre.cli.commands.figures.write_figures", warn)
    shown = CliRunner().invoke(app, ["figures", "results", "--out", "figures"])
    notes = (
        "Wrote paths.svg to figures\nNo font contains these characters, so PDF and PNG files show boxes instead: क.\n"
    )
    assert (shown.exit_code, shown.stderr) == (0, notes)


@pytest.mark.slow
def test_the_files_have_the_stated_size(tmp_path):
    pytest.importorskip("vl_convert", reason="vl-convert is not installed: pip install 'arbitre[report]'")
    write_figures(tmp_path / "figures", single().to_dict())
    pdf = (tmp_path / "figures" / "survival-column.pdf").read_bytes()
    (width,) = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ", pdf)
    assert float(width) == pytest.approx(85 / 25.4 * 72, abs=0.1)
    png = (tmp_path / "figures" / "survival-column.png").read_bytes()
    assert int.from_bytes(png[16:20]) == pytest.approx(85 / 25.4 * 300, abs=1)
    at = png.index(b"pHYs") + 4
    assert int.from_bytes(png[at : at + 4]) == pytest.approx(300 / 0.0254, abs=1)


def test_a_page_needs_no_library_for_its_figures():
    code = "import sys; sys.modules['vl_convert'] = None; import arbitre.report.render"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_the_extra_the_error_names_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(arbitre.ArbitreError, match="vl-convert") as caught:
        write_figures(tmp_path, single().to_dict())
    assert caught.value.hint == "Install it: pip install 'arbitre[report]'"
    assert list(tmp_path.iterdir()) == []
