"""Drawing of charts: labels that stay distinct and apart, axes with round ticks, and a style that files contain."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbitre.report.drawing import COLUMN, MILLIMETRES, SCREEN, Axis, Canvas, shortened, spread, text_width

NAMES = st.lists(st.text("abcde-0123é漢ש", min_size=1, max_size=60), min_size=1, max_size=15, unique=True)


@given(NAMES, st.sampled_from((60.0, 120.0, 300.0)))
def test_shortened_names_stay_different_and_fit(names, room):
    made = shortened(names, room, 10.0)
    assert len(set(made)) == len(names)
    assert all(text_width(text, 10.0) <= room + 1e-9 for text in made)
    assert all(text == name for text, name in zip(made, names, strict=True) if text_width(name, 10.0) <= room)


def test_names_that_differ_in_the_middle_only_show_where():
    names = [
        f"a-very-long-name-of-an-experiment-with-seed-{seed}-and-a-very-long-name-of-a-prompt" for seed in (17, 18)
    ]
    made = shortened(names, 120.0, 10.0)
    assert ["17" in made[0], "18" in made[1]] == [True, True]
    assert all(text.startswith("a-…") for text in made)


@given(st.lists(st.floats(0.0, 100.0), max_size=15))
def test_positions_are_spread_in_order_within_the_limits(wanted):
    made = spread(wanted, 5.0, 0.0, 100.0)
    assert all(-1e-9 <= place <= 100.0 + 1e-9 for place in made)
    ranked = [place for _, _, place in sorted(zip(wanted, range(len(made)), made, strict=True))]
    assert all(after - before >= 5.0 - 1e-6 for before, after in itertools.pairwise(ranked))


def test_more_positions_than_fit_are_spread_evenly():
    assert spread([50.0] * 5, 40.0, 0.0, 100.0) == pytest.approx([0.0, 25.0, 50.0, 75.0, 100.0])


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([0.81, 0.93], (0.8, 0.85, 0.9, 0.95)),
        ([0.0, 1.0], (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        ([-0.03, 0.41], (-0.1, 0.0, 0.1, 0.2, 0.3, 0.4, 0.5)),
        ([0.5], (0.44, 0.46, 0.48, 0.5, 0.52, 0.54, 0.56)),
        ([], (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        ([1.0, 1.0], (0.95, 0.96, 0.97, 0.98, 0.99, 1.0)),
        ([0.0, 0.0], (0.0, 0.01, 0.02, 0.03, 0.04, 0.05)),
        ([-0.2], (-0.26, -0.24, -0.22, -0.2, -0.18, -0.16, -0.14)),
    ],
    ids=str,
)
def test_axes_have_round_ticks_around_all_values(values, ticks):
    assert Axis.of("score", values).ticks == ticks


@given(st.lists(st.floats(-1e6, 1e6), min_size=1))
def test_all_values_are_on_the_axis(values):
    axis = Axis.of("score", values)
    rounding = max(1e-6, 2e-9 * (axis.ticks[1] - axis.ticks[0]))
    assert axis.low <= min(values) + rounding
    assert axis.high >= max(values) - rounding
    assert 2 <= len(axis.ticks) <= 8


def test_a_page_has_classes_and_a_file_the_same_style_as_attributes():
    page, file = Canvas(SCREEN), Canvas(COLUMN)
    for canvas in (page, file):
        canvas.path("line s1 d1", "M0 0h9")
        canvas.text(1.0, 2.0, "<a&b>", "soft", full="<full>")
    shown, written = page.svg(50.0, "Title"), file.svg(50.0, "Title", MILLIMETRES)
    assert 'class="line s1 d1"' in shown
    assert "style=" not in shown + written
    assert "&lt;a&amp;b&gt;" in shown
    assert "<title>&lt;full&gt;</title>" in shown
    assert "class=" not in written
    assert "currentcolor" not in written
    assert 'width="85mm"' in written
    assert 'stroke="#cf6a1c" stroke-width="1.8" stroke-dasharray="7 3" d="M0 0h9"' in written
