"""Figures for publications: their data, their rendering, and equal bytes for equal data."""

from __future__ import annotations

import itertools
import json
import sys
from dataclasses import replace

import pytest
from tests.unit.test_report_view import PAIRS, PEOPLE, filled, made_factor, observed

import arbitre
from arbitre.report.build_view import build_subject
from arbitre.report.figures import specifications, write_figures
from arbitre.report.language import Language
from arbitre.report.report_files import view_of
from arbitre.report.view import View


def single(pairs=PAIRS):
    return view_of([build_subject(*observed(PEOPLE, pairs))])


def test_the_view_determines_the_figures():
    assert list(specifications(single())) == ["survival", "paths", "heat"]
    assert list(specifications(filled())) == [
        *("survival", "paths", "leaderboard", "differences", "levels", "paths-ocr", "heat-1", "heat-2")
    ]
    assert specifications(single([])) == {}


def test_the_survival_curve_has_exact_steps_and_the_right_area():
    view = single()
    rows = specifications(view)["survival"]["data"]["values"]
    for side, score in (("share of gold", "irq"), ("share of predicted", "imq")):
        points = [(row["quality"], row["share"]) for row in rows if row["line"] == side]
        area = sum((after[0] - before[0]) * after[1] for before, after in itertools.pairwise(points))
        (line,) = [one for one in view.subjects[0].headline if one.name == score]
        assert area == pytest.approx(line.micro, abs=1e-12)


def test_the_path_figure_has_a_bar_for_every_path_system_and_score():
    rows = specifications(filled())["paths"]["data"]["values"]
    assert len(rows) == 4 * 2 * 3
    assert {row["factor"] for row in rows} == {"imq", "irq", "amq"}
    assert {row["system"] for row in rows} == {"careful", "hasty"}


def test_the_heat_map_marks_the_assignment():
    rows = specifications(single(PAIRS[:1]))["heat"]["data"]["values"]
    assert [(row["gold"], row["predicted"]) for row in rows if row["share"] == 1.0] == [(0, 1), (1, 0)]
    assert len(rows) == 4


def test_the_leaderboard_has_intervals_where_they_are_known():
    spec = specifications(filled())["leaderboard"]
    assert spec["data"]["values"] == [
        {"system": "careful", "score": 0.5, "low": 0.4, "high": 0.6},
        {"system": "hasty", "score": None},
    ]
    assert [layer["mark"]["type"] for layer in spec["layer"]] == ["rule", "point", "text"]


def test_levels_have_intervals_where_they_are_known_and_every_factor_its_own_lines():
    spec = specifications(replace(single(), factors=[made_factor()]), Language.FR)["levels"]
    assert spec["data"]["values"] == [
        {"factor": "ocr", "level": "(vide)", "score": 0.25},
        {"factor": "ocr", "level": "good", "score": 0.5, "low": 0.4, "high": 0.6},
    ]
    assert [layer["mark"]["type"] for layer in spec["spec"]["layer"]] == ["rule", "point", "text"]
    assert spec["resolve"] == {"scale": {"y": "independent"}}


def test_the_level_figure_has_a_bar_for_every_path_and_level():
    spec = specifications(filled())["paths-ocr"]
    assert spec["data"]["values"] == [
        {"path": "/*", "level": "(empty)", "score": 0.3},
        {"path": "/*/name", "level": "(empty)", "score": 0.2},
        {"path": "/*/name", "level": "good", "score": 0.6},
    ]
    assert spec["encoding"]["color"]["legend"] == {"title": "ocr"}


def test_factor_names_become_distinct_file_names():
    names = ["model/prompt", "model%2Fprompt", "modèle (1)", "a:b", "\ud800"]
    found = specifications(View("0", (), None, [replace(made_factor(), name=name) for name in names]))
    assert list(found)[1:] == [
        f"paths-{name}" for name in ("model%2Fprompt", "model%252Fprompt", "modèle (1)", "a%3Ab", "%3F")
    ]


@pytest.mark.slow
def test_figures_are_written_with_their_specifications(tmp_path):
    pytest.importorskip("vl_convert", reason="vl-convert is not installed: pip install 'arbitre[report]'")
    names = write_figures(tmp_path / "one", filled(), Language.FR)
    write_figures(tmp_path / "two", filled(), Language.FR)
    assert len(names) == 32
    for name in names:
        data = (tmp_path / "one" / name).read_bytes()
        start = {"svg": b"<svg", "pdf": b"%PDF", "png": b"\x89PNG", "json": b"{\n"}[name.rpartition(".")[2]]
        assert data.startswith(start), name
        if name in {"survival.svg", "paths.svg", "paths.vl.json", "survival.png", "heat-1.png"}:
            assert data == (tmp_path / "two" / name).read_bytes(), name
    spec = json.loads((tmp_path / "one" / "survival.vl.json").read_text(encoding="utf-8"))
    assert spec["$schema"].endswith("/v6.json")
    assert "0,5" in (tmp_path / "one" / "paths.svg").read_text(encoding="utf-8")


def test_without_the_extra_the_error_names_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(arbitre.ArbitreError, match="vl-convert") as caught:
        write_figures(tmp_path, single())
    assert caught.value.hint == "pip install 'arbitre[report]'"
    assert list(tmp_path.iterdir()) == []
