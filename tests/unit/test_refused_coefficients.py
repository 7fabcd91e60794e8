"""Agreement coefficients are refused as scores of a system, with the reason and the alternatives."""

from __future__ import annotations

import pytest
import typer.main
from typer.testing import CliRunner

import arbitre
from arbitre import agreement
from arbitre.cli import SCORING, app
from arbitre.errors import OptionError
from arbitre.refused_coefficients import COEFFICIENTS, check_not_agreement

TEXT = {"type": "string"}
PAIRS = [("a", "yes", "yes"), ("b", "no", "yes")]
NAMES = ("kappa", "cohen_kappa", "alpha", "pi", "fleiss_kappa", "gamma", "annotator_plus_system")
ALTERNATIVES = (
    "Observed agreement: `exact_match_rate`",
    "Precision, recall and F1: `imq`, `irq` and `f1q`",
    "Distances of segmentations: `arbitre text corpus GOLD PREDICTED --path PATH --segmentation`",
    "Structural scores: ",
    "As a baseline, the agreement expected by chance from gold alone",
)


def check(message):
    """Check that a message has the reason and all five alternatives, in order."""
    places = [message.index(alternative) for alternative in ALTERNATIVES]
    assert places == sorted(places)
    assert "(Mathet and Widlöcher, 2016)" in message


@pytest.mark.parametrize("name", NAMES)
class TestAnOption:
    def test_it_is_refused_on_the_command_line_as_an_error_of_usage(self, name):
        option = f"--{name.replace('_', '-')}"
        for arguments in ([option], [f"{option}=linear"], ["--schema", "none.json", option, "linear"]):
            result = CliRunner().invoke(app, ["evaluate", *arguments])
            assert (result.exit_code, result.stdout) == (2, "")
            assert result.stderr.startswith(f"error: {option} ")
            check(result.stderr)

    def test_it_is_refused_in_python_with_the_same_text(self, name):
        result = CliRunner().invoke(app, ["evaluate", f"--{name.replace('_', '-')}"])
        comparator = arbitre.Comparator(TEXT)
        for refused in (
            lambda: comparator.evaluate(PAIRS, **{name: True}),
            lambda: arbitre.evaluate(TEXT, PAIRS, **{name: True}),
            lambda: arbitre.evaluate(TEXT, gold="none", predicted="none", **{name: True}),
            lambda: arbitre.rank({"a": comparator.evaluate(PAIRS)}, **{name: True}),
            lambda: arbitre.rank({"a": "none"}, schema=TEXT, gold="none", **{name: True}),
        ):
            with pytest.raises(OptionError) as caught:
                refused()
            shown = caught.value.message.replace(f"`{name}`", f"--{name.replace('_', '-')}", 1)
            assert result.stderr == f"error: {shown}\n"


@pytest.mark.parametrize("command", sorted(SCORING))
def test_every_command_that_scores_a_system_refuses_them_and_hides_them_in_its_help(command):
    assert CliRunner().invoke(app, [command, "--kappa"]).exit_code == 2
    check(CliRunner().invoke(app, [command, "--kappa"]).stderr)
    group = typer.main.get_command(app)
    found = group.resolve_command(typer.Context(group), [command])[1]
    options = {option.lstrip("-") for parameter in found.params for option in parameter.opts}
    assert not options & {name.replace("_", "-") for name in COEFFICIENTS}


def test_the_value_of_an_option_is_not_refused():
    result = CliRunner().invoke(app, ["evaluate", "--schema", "kappa", "--gold", "alpha", "--predicted", "pi"])
    assert "Mathet" not in result.stderr


def test_every_coefficient_of_the_package_is_refused():
    functions = {name for name in agreement.__all__ if name == name.lower()}
    coefficients = {name for name in functions if getattr(agreement, name).__annotations__["return"] == "Coefficient"}
    assert {"gamma", "cohen_kappa"} <= coefficients
    assert coefficients - {"observed"} <= COEFFICIENTS


class TestAScore:
    def test_it_cannot_have_a_bound(self):
        for bound in ({"kappa": 0.6}, ["alpha=0.6"]):
            with pytest.raises(OptionError) as caught:
                arbitre.evaluate(TEXT, PAIRS, fail_under=bound)
            check(caught.value.message)
        assert CliRunner().invoke(app, ["evaluate", "--fail-under", "kappa=0.6"]).exit_code == 2

    def test_systems_cannot_be_ranked_by_it(self):
        with pytest.raises(OptionError) as caught:
            arbitre.rank({"a": arbitre.evaluate(TEXT, PAIRS)}, "kappa")
        check(caught.value.message)


def test_names_with_hyphens_and_capitals_are_refused():
    with pytest.raises(OptionError):
        check_not_agreement("Cohen-Kappa", OptionError)
    check_not_agreement("f1q", OptionError)


def test_the_suggested_baseline_is_the_expected_agreement_of_gold_with_itself(tmp_path):
    gold = tmp_path / "gold.jsonl"
    gold.write_text("".join(f'{{"id": "{at}", "tag": "{tag}"}}\n' for at, tag in enumerate("AAAABBBB")))
    schema = {"type": "object", "properties": {"tag": {"enum": ["A", "B", "C"]}}}
    coefficient = agreement.agree(schema, {"a": gold, "b": gold}).by_path["/tag"]
    assert (coefficient.observed, round(coefficient.expected, 4)) == (1.0, 0.4667)


def test_the_suggested_observed_agreement_is_that_of_the_source():
    """Table 5 of Mathet and Widlöcher (2016): the better system has the lower kappa."""
    gold, systems = "AAAABBBB", ("AACCCCCC", "AABBBBAA")
    kappas = [agreement.cohen_kappa(gold, system) for system in systems]
    assert [kappa.observed for kappa in kappas] == [0.25, 0.5]
    assert [round(kappa.value, 4) for kappa in kappas] == [0.1429, 0.0]
