"""Suggested aliases for fields that predictions write under unknown keys."""

from __future__ import annotations

import json
import random

import pytest
from tests.oracle.senate import DATA, HERE, read
from typer.testing import CliRunner

from arbitre import ABSENT, Comparator, OptionError, bundled
from arbitre.cli import app
from arbitre.gold.perturb import perturb

NAME, YEAR = {"type": "string"}, {"type": "integer"}
PERSON = {"type": "object", "properties": {"name": NAME, "born": YEAR, "alive": {"type": "boolean"}}}
PEOPLE = {"type": "array", "items": PERSON}
NESTED = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "name": NAME,
            "acts": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "action": {
                            "type": "object",
                            "properties": {"text": NAME, "pages": {"type": "array", "items": YEAR}},
                        }
                    },
                },
            },
        },
    },
}
WORDS = [
    "salt",
    "wool",
    "ports",
    "night",
    "school",
    "canal",
    "mines",
    "grain",
    "votes",
    "light",
    "coast",
    "pension",
    "duty",
    "bills",
    "parish",
    "harbour",
]
SENATE = "examples/senat-nested.schema.json"
RUNS = ("01_vt", "02_corpusense_boxes", "03_corpusense_raw")


def people(count=20, seed=0):
    draw = random.Random(seed)  # noqa: S311
    return [
        {"name": " ".join(draw.sample(WORDS, 3)), "born": draw.randrange(1800, 1900), "alive": draw.random() < 0.5}
        for _ in range(count)
    ]


def renamed(entries, **names):
    return [{names.get(key, key): value for key, value in entry.items()} for entry in entries]


def suggested(schema, *pairs, **options):
    proposed = Comparator(schema, **options).suggest_aliases((f"page {at}", *pair) for at, pair in enumerate(pairs))
    return {(suggestion.path, suggestion.alias) for suggestion in proposed.suggestions}


def test_a_renamed_field_is_suggested_whatever_its_name():
    gold = people()
    assert suggested(PEOPLE, (gold, renamed(gold, name="x17"))) == {("/*/name", "x17")}
    pages = [(people(seed=seed), renamed(people(seed=seed), born="name2", name="born_in")) for seed in range(4)]
    assert suggested(PEOPLE, *pages) == {("/*/name", "born_in"), ("/*/born", "name2")}


def test_a_similar_name_with_other_values_is_not_suggested():
    gold, other = people(), people(seed=1)
    predicted = [
        {"names": stranger["name"], "born": entry["born"], "alive": entry["alive"]}
        for entry, stranger in zip(gold, other, strict=True)
    ]
    assert suggested(PEOPLE, (gold, predicted)) == set()


def test_the_evidence_states_the_values_and_their_number_by_chance():
    gold = people()
    (suggestion,) = Comparator(PEOPLE).suggest_aliases([("a", gold, renamed(gold, born="year"))]).suggestions
    assert (suggestion.path, suggestion.alias, suggestion.scope) == ("/*/born", "year", "/*")
    assert suggestion.equal == suggestion.missing == suggestion.unknown == 20
    assert 0.0 <= suggestion.chance < 1.5


@pytest.mark.parametrize(("count", "expected"), [(2, set()), (3, {("/*/born", "year")})], ids=["two", "three"])
def test_at_least_three_values_beyond_chance_are_needed(count, expected):
    gold = [{"name": word, "born": 1800 + at, "alive": True} for at, word in enumerate(WORDS[:count])]
    assert suggested(PEOPLE, (gold, renamed(gold, born="year"))) == expected


def test_values_that_agree_by_chance_are_not_evidence():
    draw = random.Random(4)  # noqa: S311
    gold = people(40)
    predicted = [{"name": entry["name"], "born": entry["born"], "flag": draw.random() < 0.5} for entry in gold]
    assert suggested(PEOPLE, (gold, predicted)) == set()
    alike = [entry | {"alive": True} for entry in gold]
    assert suggested(PEOPLE, (alike, renamed(alike, alive="flag"))) == set()


def test_a_field_with_two_values_is_suggested_from_many_entries():
    gold = people(80)
    assert suggested(PEOPLE, (gold, renamed(gold, alive="living"))) == {("/*/alive", "living")}


def test_a_key_that_gold_uses_or_a_field_that_is_present_is_not_suggested():
    gold = people()
    extra = [entry | {"label": entry["name"]} for entry in gold]
    assert suggested(PEOPLE, (extra, renamed([{"label": entry["label"]} for entry in extra]))) == set()
    assert suggested(PEOPLE, (gold, extra)) == set()


def test_part_of_a_list_is_not_an_alias_of_the_list():
    schema = {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "name": NAME,
                "pages": NESTED["items"]["properties"]["acts"]["items"]["properties"]["action"]["properties"]["pages"],
            },
        },
    }
    gold = [{"name": word, "pages": [4 * at, 4 * at + 1, 4 * at + 2, 4 * at + 3]} for at, word in enumerate(WORDS)]
    assert (
        suggested(schema, (gold, [{"name": person["name"], "first": person["pages"][0]} for person in gold])) == set()
    )
    assert suggested(schema, (gold, [{"name": person["name"], "all": person["pages"]} for person in gold])) == {
        ("/*/pages", "all")
    }


def nested(seed=0):
    draw = random.Random(seed)  # noqa: S311
    return [
        {
            "name": word,
            "acts": [
                {"action": {"text": " ".join(draw.sample(WORDS, 4)), "pages": draw.sample(range(1000), 3)}}
                for _ in range(3)
            ],
        }
        for word in WORDS
    ]


@pytest.mark.parametrize(
    ("act", "aliases"),
    [
        (lambda action: {"text": action["text"], "numbers": action["pages"]}, {"text": "text", "pages": "numbers"}),
        (lambda action: {"action": {"text": action["text"], "numbers": action["pages"]}}, {"pages": "numbers"}),
        (lambda action: {"deed": action}, {"text": "deed/text", "pages": "deed/pages"}),
        (
            lambda action: {"action": {"text": action["text"], "where": {"pages": action["pages"]}}},
            {"pages": "where/pages"},
        ),
    ],
    ids=["lifted", "renamed", "object-renamed", "wrapped"],
)
def test_relative_pointers_through_wrappers_are_suggested_and_raise_the_score(act, aliases):
    gold = nested()
    predicted = [entry | {"acts": [act(nested_act["action"]) for nested_act in entry["acts"]]} for entry in gold]
    comparator = Comparator(NESTED)
    proposed = comparator.suggest_aliases([("a", gold, predicted)])
    path = "/*/acts/*/action"
    assert {(suggestion.path, suggestion.alias) for suggestion in proposed.suggestions} == {
        (f"{path}/{field}", alias) for field, alias in aliases.items()
    }
    assert comparator.compare(gold=gold, predicted=predicted).quality < 0.9
    assert Comparator(NESTED, overlay=proposed.overlay).compare(gold=gold, predicted=predicted).quality == 1.0


def test_a_renamed_list_of_objects_is_suggested():
    gold = nested()
    predicted = [{"name": entry["name"], "deeds": entry["acts"]} for entry in gold]
    assert suggested(NESTED, (gold, predicted)) == {("/*/acts", "deeds")}


def test_the_fields_of_an_item_are_not_aliases_of_its_list():
    gold = [
        entry | {"acts": [{"action": {"text": " ".join(reversed(WORDS[at % 9 :][:4])), "pages": [at]}}]}
        for at, entry in enumerate(nested())
    ]
    predicted = [{"name": entry["name"], **entry["acts"][0]["action"]} for entry in gold]
    assert ("/*/acts", "text") not in suggested(NESTED, (gold, predicted))


def test_a_field_of_the_document_is_found_over_several_documents():
    letter = {"type": "object", "properties": {"sent": NAME, "to": NAME}}
    pairs = [({"sent": f"191{at}", "to": word}, {"date": f"191{at}", "to": word}) for at, word in enumerate(WORDS[:9])]
    assert suggested(letter, *pairs) == {("/sent", "date")}
    assert suggested(letter, *pairs[:1]) == set()


def test_values_of_maps_are_entries():
    by_key = {"type": "object", "additionalProperties": PERSON}
    gold = {entry["name"]: entry for entry in people()}
    predicted = dict(zip(gold, renamed(gold.values(), born="year"), strict=True))
    assert suggested(by_key, (gold, predicted)) == {("/*/born", "year")}


def test_several_runs_of_a_document_are_not_counted_as_chance():
    gold = [{"sent": f"191{at}", "to": word} for at, word in enumerate(WORDS[:4])]
    letter = {"type": "object", "properties": {"sent": NAME, "to": NAME}}
    pairs = [
        (message["to"], message, {"date": message["sent"], "to": message["to"]}) for message in gold for _ in range(5)
    ]
    (suggestion,) = Comparator(letter).suggest_aliases(pairs).suggestions
    assert (suggestion.equal, suggestion.chance) == (20, 0)


def test_existing_aliases_are_used_and_kept_in_the_overlay():
    schema = {
        "type": "array",
        "items": {
            **PERSON,
            "properties": PERSON["properties"] | {"born": YEAR | {"x-arbitre": {"aliases": ["birth", "life/birth"]}}},
        },
    }
    gold = people()
    assert suggested(schema, (gold, renamed(gold, born="birth"))) == set()
    half = renamed(gold[:10], born="birth") + renamed(gold[10:], born="year")
    proposed = Comparator(schema).suggest_aliases([("a", gold, half)])
    assert proposed.overlay == {"/*/born": {"aliases": ["birth", "life/birth", "year"]}}
    assert Comparator(schema, overlay=proposed.overlay).compare(gold=gold, predicted=half).quality == 1.0


def test_an_alias_that_the_schema_refuses_is_not_suggested():
    schema = {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"key": NAME, "name": NAME, "who": {"type": "object", "properties": {"title": NAME}}},
        },
    }
    gold = [{"key": str(at), "who": {"title": word}} for at, word in enumerate(WORDS)]
    predicted = [{"key": entry["key"], "who": {"name": entry["who"]["title"]}} for entry in gold]
    proposed = Comparator(schema).suggest_aliases([("a", gold, predicted)])
    Comparator(schema, overlay=proposed.overlay)
    assert proposed.suggestions == ()


def test_equal_documents_failures_and_an_empty_corpus_give_no_suggestion():
    gold = people()
    assert suggested(PEOPLE, (gold, gold)) == set()
    assert suggested(PEOPLE, (gold, ABSENT), (gold, "text"), (gold, [])) == set()
    empty = Comparator(PEOPLE).suggest_aliases([])
    assert (empty.documents, empty.overlay, empty.suggestions) == (0, {}, ())


def test_an_unknown_option_is_refused():
    with pytest.raises(OptionError, match="golds"):
        Comparator(PEOPLE).suggest_aliases(golds="x")
    with pytest.raises(OptionError, match="requires paths"):
        Comparator(PEOPLE).suggest_aliases([], lenient=True)


@HERE
@pytest.mark.parametrize("runs", [RUNS, RUNS[:1], RUNS[1:2]], ids=["all", "vt", "boxes"])
def test_the_renamed_keys_of_the_senate_are_the_overlay_of_the_example(runs):
    gold = read("nested", "gold.json")
    predicted = [read("nested", f"predicted_{run}.json") for run in runs]
    comparator = Comparator(bundled.schema(SENATE))
    proposed = comparator.suggest_aliases(("page_02", gold, prediction) for prediction in predicted)
    example = bundled.schemas() / "examples" / "senat-nested.overlay.json"
    assert proposed.overlay == json.loads(example.read_text(encoding="utf-8"))
    better = Comparator(bundled.schema(SENATE), overlay=proposed.overlay)
    for prediction in predicted:
        before, after = (judge.compare(gold=gold, predicted=prediction) for judge in (comparator, better))
        assert after.scores.f1q > before.scores.f1q + 0.05
        assert after.leaves.f1q > before.leaves.f1q + 0.15


@HERE
def test_the_command_prints_the_overlay_and_its_evidence(tmp_path):
    schema, gold = str(bundled.schemas() / SENATE), str(DATA / "nested" / "gold.json")
    sources = ["--gold", gold, "--predicted", str(DATA / "nested" / "predicted_01_vt.json")]
    result = CliRunner().invoke(app, ["schema", "suggest-aliases", schema, *sources])
    assert result.exit_code == 0, result.output
    comparator = Comparator(schema)
    proposed = comparator.suggest_aliases(gold=gold, predicted=sources[-1])
    assert json.loads(result.stdout) == proposed.overlay
    assert "2 aliases suggested from 1 pair of documents" in result.stderr
    assert "161 of 175 values are equal to one of 161 missing values in the same /listes" in result.stderr
    out = tmp_path / "overlay.json"
    written = CliRunner().invoke(app, ["schema", "suggest-aliases", schema, *sources, "--out", str(out)])
    assert written.stdout == ""
    assert json.loads(out.read_text(encoding="utf-8")) == proposed.overlay
    plain = CliRunner().invoke(app, ["schema", "suggest-aliases", schema, *sources, "--format", "json"])
    assert json.loads(plain.stdout) == proposed.to_dict()


@pytest.mark.parametrize("seed", range(6))
def test_fields_renamed_in_the_bundled_corpus_are_found_and_nothing_else(seed):
    lines = map(json.loads, (bundled.demo() / "gold.jsonl").read_text(encoding="utf-8").splitlines())
    gold = {line.pop("id"): line for line in lines}
    copies = {
        key: perturb(document, {"rename": 0.2, "noise": 0.1, "drop": 0.05}, seed=seed, key=key)
        for key, document in gold.items()
    }
    comparator = Comparator(bundled.schema("examples/speakers.schema.json"))
    proposed = comparator.suggest_aliases((key, gold[key], copy.document) for key, copy in copies.items())
    planted = {fault.gold[0] for copy in copies.values() for fault in copy.faults if fault.kind.value == "rename"}
    assert {suggestion.path for suggestion in proposed.suggestions} <= planted
    assert planted - {suggestion.path for suggestion in proposed.suggestions} <= {
        "/page/volume"
    }  # one value on all pages
