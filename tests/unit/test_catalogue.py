"""The catalogue of distances and normalisers: options, and errors for unknown names and values."""

import copy
import math
import pickle

import pytest

from arbitre.catalogue import Catalogue, Factory
from arbitre.distances import catalogue as distances
from arbitre.errors import SchemaError

SAW = Factory(
    build=dict,
    summary="Cuts.",
    options={
        "teeth": {"type": "integer", "minimum": 1, "maximum": 99},
        "blade": {"enum": ["band", "chain"], "default": "band"},
        "sizes": {"type": "array", "items": {"type": "number"}, "maxItems": 2, "default": []},
        "label": {"type": "string", "pattern": "^[a-z]*$", "minLength": 1},
    },
    required=("teeth",),
)
TOOLS = Catalogue("tool", {"saw": SAW, "hammer": Factory(build=dict, summary="Hits.")})


def problems(choice, pointer=""):
    with pytest.raises(SchemaError) as caught:
        TOOLS.build(choice, pointer=pointer)
    return [(problem.message, problem.pointer, problem.hint) for problem in caught.value.problems]


def test_names_are_sorted():
    assert TOOLS.names == ("hammer", "saw")


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])  # noqa: S301
def test_a_catalogue_can_be_copied(copied):
    again = copied(TOOLS)
    assert (again.term, again.names) == ("tool", TOOLS.names)
    assert again.build({"saw": {"teeth": 3}}) == TOOLS.build({"saw": {"teeth": 3}})
    with pytest.raises(TypeError):
        again.entries["axe"] = SAW


def test_the_catalogue_of_distances_can_be_copied():
    again = copy.deepcopy(distances)
    assert type(again) is type(distances)
    assert again.build("levenshtein")("ab", "ac") == 0.5


def test_a_choice_is_a_name_or_a_name_with_options():
    assert TOOLS.build("hammer") == {}
    assert TOOLS.build({"hammer": {}}) == {}
    assert TOOLS.build({"saw": {"teeth": 7, "blade": "chain"}}) == {"teeth": 7, "blade": "chain", "sizes": []}


def test_defaults_are_not_shared_between_builds():
    TOOLS.build({"saw": {"teeth": 7}})["sizes"].append(1)
    assert TOOLS.build({"saw": {"teeth": 7}})["sizes"] == []


def test_all_problems_are_reported_at_once():
    assert problems({"saw": {"blad": "band", "blade": "axe", "sizes": [1, "2", "3"]}}, "/t") == [
        (
            "The required option `teeth` of `saw` is missing",
            "/t/saw",
            'Write {"saw": {"teeth": ...}}.',
        ),
        (
            'Expected an option of `saw`, got "blad"',
            "/t/saw/blad",
            'Did you mean "blade"? Also available: label, sizes, teeth.',
        ),
        ('Expected `blade` to be one of band or chain, got "axe"', "/t/saw/blade", None),
        ('Expected `sizes` to be of type number, got "2"', "/t/saw/sizes/1", None),
        ('Expected `sizes` to be of type number, got "3"', "/t/saw/sizes/2", None),
        ('Expected `sizes` to be a list of at most 2 items, got [1, "2", "3"]', "/t/saw/sizes", None),
    ]


@pytest.mark.parametrize(
    ("choice", "message", "pointer"),
    [
        ("sow", 'Expected `tool` to be a known name, got "sow"', "/t"),
        ({"sow": {}}, 'Expected `tool` to be a known name, got "sow"', "/t/sow"),
        ({"s/w": {}}, 'Expected `tool` to be a known name, got "s/w"', "/t/s~1w"),
        (3, "Expected `tool` to be a name or {name: {option: value}}, got 3", "/t"),
        ({}, "Expected `tool` to be a name or {name: {option: value}}, got {}", "/t"),
        (["saw"], 'Expected `tool` to be a name or {name: {option: value}}, got ["saw"]', "/t"),
        ({"hammer": None}, "Expected `hammer` to be an object of options, got null", "/t/hammer"),
        (
            {"hammer": {"x": 1}},
            'Expected no options, as `hammer` has none, got "x"',
            "/t/hammer/x",
        ),
        ({"saw": {"teeth": 0}}, "Expected `teeth` to be at least 1, got 0", "/t/saw/teeth"),
        ({"saw": {"teeth": 100}}, "Expected `teeth` to be at most 99, got 100", "/t/saw/teeth"),
        ({"saw": {"teeth": math.nan}}, "Expected a finite number, got nan", "/t"),
        (
            {"saw": {"teeth": 1, "label": "A"}},
            'Expected `label` to be a text that matches ^[a-z]*$, got "A"',
            "/t/saw/label",
        ),
        (
            {"saw": {"teeth": 1, "label": ""}},
            "Expected `label` to be valid ('' should be non-empty), got \"\"",
            "/t/saw/label",
        ),
    ],
)
def test_an_invalid_choice_is_refused(choice, message, pointer):
    assert [problem[:2] for problem in problems(choice, "/t")] == [(message, pointer)]


def test_long_values_are_truncated_in_messages():
    ((message, _, _),) = problems({"hammer": "x" * 500})
    assert message.endswith("xxx…")
    assert len(message) < 150


def test_adding_a_factory_returns_a_new_catalogue():
    larger = TOOLS.with_factory("axe", Factory(build=lambda _: "chop", summary="Chops."))
    assert larger.build("axe") == "chop"
    assert larger.names == ("axe", "hammer", "saw")
    assert TOOLS.names == ("hammer", "saw")


def test_a_name_cannot_be_redefined():
    with pytest.raises(SchemaError, match='The name "saw" is already taken by a tool'):
        TOOLS.with_factory("saw", SAW)


def test_a_catalogue_is_independent_of_the_mapping_it_was_made_from():
    entries = {"saw": SAW}
    catalogue = Catalogue("tool", entries)
    entries.clear()
    assert catalogue.names == ("saw",)
    with pytest.raises(TypeError):
        catalogue.entries["axe"] = SAW


def test_an_unknown_distance_hints_at_functions():
    with pytest.raises(SchemaError, match="--functions MODULE:NAME"):
        distances.build("mydist")
