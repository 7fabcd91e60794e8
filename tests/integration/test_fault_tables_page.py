"""The tables of `docs/faults.md` are the output of their script, and support the statements on the page."""

import pytest
from typer.testing import CliRunner

from arbitre.cli import app


@pytest.fixture(scope="module")
def script(docs_script):
    return docs_script("make_faults")


@pytest.fixture(scope="module")
def scores(script):
    return script.measured()


@pytest.fixture(scope="module")
def found(scores):
    labels = ["hungarian", "gated", "greedy", "ordered", "sequence", "keyed", "set", "exact", "size", "sinkhorn"]
    labels += ["partial", "unbalanced", "dummy"]
    return dict(zip(labels, scores.values(), strict=True))


def test_the_page_is_what_the_script_makes(script, scores, monkeypatch):
    monkeypatch.setattr(script, "measured", lambda: scores)
    page = script.PAGE.read_text(encoding="utf-8")
    assert script.made(page) == page
    assert script.made(page.replace("| 0.895 |", "| 0.896 |")) == page


def test_the_command_names_the_page():
    result = CliRunner().invoke(app, ["faults", "--match", "hungarian"])
    assert result.exit_code == 2
    assert "docs/faults.md" in result.stderr


def test_gold_against_itself_has_full_scores(found):
    for name in set(found) - {"sinkhorn", "partial"}:
        assert found[name]["none"].f1q == pytest.approx(1.0), name
    assert 0.99 < found["sinkhorn"]["none"].f1q < 1.0  # smoothed, it is never quite
    assert found["partial"]["none"].f1q == pytest.approx(0.8)  # no more than that may move


def test_omissions_cost_irq_and_duplicates_imq(found):
    for name in ("hungarian", "gated", "sequence", "keyed", "dummy"):
        faults = found[name]
        assert faults["drop"].imq == pytest.approx(1.0), name
        assert faults["drop"].irq == pytest.approx(47 / 58), name
        assert faults["duplicate"].irq == pytest.approx(1.0), name
        assert faults["duplicate"].imq == pytest.approx(58 / 69), name
        assert faults["drop"].amq == pytest.approx(1.0), name


def test_balanced_transport_does_not_distinguish_omissions_from_duplicates(found):
    for name in ("exact", "size", "sinkhorn"):
        for fault in found[name].values():
            assert fault.imq == fault.irq == fault.f1q == fault.amq, name
    assert found["exact"]["duplicate"].f1q > found["hungarian"]["duplicate"].f1q


def test_each_matching_is_weak_at_a_known_fault(found):
    assert found["set"]["duplicate"].f1q == pytest.approx(1.0)  # each item counts once
    assert found["ordered"]["drop"].f1q < 0.7  # all that follows has moved up
    assert found["greedy"]["drop"].f1q < found["hungarian"]["drop"].f1q - 0.1
    assert found["keyed"]["noise"].f1q < found["hungarian"]["noise"].f1q - 0.05
    assert found["size"]["merge"].f1q > found["exact"]["merge"].f1q > found["hungarian"]["merge"].f1q
