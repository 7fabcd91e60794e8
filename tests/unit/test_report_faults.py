"""The section of the report on faults."""

import json

import pytest
from jsonschema import Draft202012Validator
from tests.unit.test_report_html import Read, tokens

import arbitre
from arbitre import bundled
from arbitre.language import Language
from arbitre.report.build_view import build_subject
from arbitre.report.render import render_page
from arbitre.report.report_files import view_of

SCHEMA = {
    "type": "array",
    "items": {"type": "object", "properties": {"name": {"type": "string"}, "a/<b>": {"type": "integer"}}},
}
GOLD = [{"name": "Ada", "a/<b>": 1}, {"name": "Bo", "a/<b>": 2}]
PREDICTED = [{"name": "Adda", "a/<b>": 1}]


def page(evaluation, language=Language.EN, *others):
    subjects = [build_subject(evaluation.to_dict(), name="one" if others else None)]
    subjects += [build_subject(other.to_dict(), name="two") for other in others]
    made = view_of(subjects)
    Draft202012Validator(bundled.schema("view.schema.json")).validate(json.loads(json.dumps(made.to_dict())))
    return render_page(made, language)


def evaluated(predicted, *, diagnose=True):
    return arbitre.evaluate(SCHEMA, [("d", GOLD, predicted)], diagnose=diagnose, no_chance=True)


@pytest.mark.parametrize("language", list(Language))
def test_the_faults_have_the_exact_numbers_of_the_evaluation(language):
    evaluation = evaluated(PREDICTED)
    written = dict(tokens(json.loads(json.dumps(evaluation.to_dict()), parse_float=str, parse_int=str)))
    numbers = Read(page(evaluation, language)).numbers
    shown = {pointer: values for pointer, values in numbers.items() if pointer.startswith("/diagnosis/")}
    assert shown == {pointer: {written[pointer]} for pointer in shown}
    wanted = {f"/diagnosis/faults/{place}/{name}" for place in range(2) for name in ("count", "cost")}
    wanted |= {"/diagnosis/repair_gain/missing", "/diagnosis/repair_gain/wrong", "/diagnosis/repair_gain_by_path/~1*"}
    assert wanted <= {pointer.replace("close", "wrong") for pointer in shown}


def test_the_faults_are_named_in_both_languages():
    evaluation = evaluated(PREDICTED)
    english, french = (Read(page(evaluation, language)).seen for language in Language)
    assert "Faults by path and class" in english
    assert "missing" in english
    assert "Erreurs par chemin et par type" in french
    assert "manquante" in french


def test_a_page_without_diagnosis_has_no_section_of_faults():
    assert 'id="faults"' not in page(evaluated(PREDICTED, diagnose=False))
    assert 'id="faults"' in page(evaluated(PREDICTED))


def test_a_page_states_that_there_are_no_faults_or_that_none_were_computed():
    assert "No faults: every value is correct." in Read(page(evaluated(GOLD))).seen
    both = Read(page(evaluated(PREDICTED), Language.EN, evaluated(PREDICTED, diagnose=False))).seen
    assert "Evaluate with --diagnose to list them." in both
