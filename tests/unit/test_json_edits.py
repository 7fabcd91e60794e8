"""Changes of a JSON text keep everything else as it is written."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbitre.parsing.json_edits import Edit, edited

INDENTED = '{\n  "people": [\n    {\n      "name": "Ada"\n    }\n  ],\n  "none": [],\n  "map": {}\n}\n'


@pytest.mark.parametrize(
    ("text", "edit", "after"),
    [
        ('{"a": 1.50, "b": 2}', Edit("replace", ("b",), 3), '{"a": 1.50, "b": 3}'),
        ('{"a":{"~/": 1}}', Edit("replace", ("a", "~/"), [1, 2]), '{"a":{"~/": [1, 2]}}'),
        (' "a"\n', Edit("replace", (), "b"), ' "b"\n'),
        ('{"a": 1, "b": 2, "c": 3}', Edit("remove", ("b",)), '{"a": 1, "c": 3}'),
        ('{"a": 1, "b": 2}', Edit("remove", ("b",)), '{"a": 1}'),
        ('{ "a": 1 }', Edit("remove", ("a",)), "{}"),
        ("[1,2,3]", Edit("remove", ("0",)), "[2,3]"),
        ("[1,2]", Edit("add", ("-",), {"a": [1]}), '[1,2,{"a":[1]}]'),
        ("[1]", Edit("add", ("-",), 2), "[1,2]"),
        ('{"a": [1]}', Edit("add", ("b",), 2), '{"a": [1], "b": 2}'),
        ('{"a":"\\u00e9"}', Edit("add", ("b",), "è"), '{"a":"\\u00e9","b":"\\u00e8"}'),
        ('{"a":"é"}', Edit("add", ("b",), "è"), '{"a":"é","b":"è"}'),
        (INDENTED, Edit("add", ("none", "-"), 1), INDENTED.replace("[]", "[\n    1\n  ]")),
        (INDENTED, Edit("add", ("people", "0", "age"), [3]), INDENTED.replace('"Ada"', '"Ada",\n      "age": [\n        3\n      ]')),
        (INDENTED, Edit("add", ("people", "-"), {"name": "Bo"}), INDENTED.replace("    }\n  ]", '    },\n    {\n      "name": "Bo"\n    }\n  ]')),
        (INDENTED.replace("\n", "\r\n"), Edit("add", ("map", "a"), []), INDENTED.replace("{}", '{\n    "a": []\n  }').replace("\n", "\r\n")),
        ('\ufeff{"a": 1}', Edit("replace", ("a",), 2), '\ufeff{"a": 2}'),
    ],
)  # fmt: skip
def test_a_new_value_is_written_like_its_surroundings(text, edit, after):
    assert edited(text, [edit]) == after


@pytest.mark.parametrize(
    ("text", "edits", "after"),
    [
        ("[0, 1,  2]", [Edit("remove", ("2",)), Edit("remove", ("1",))], "[0]"),
        ("[0, 1,  2]", [Edit("remove", ("0",)), Edit("replace", ("2",), 3)], "[1,  3]"),
        ("[ 0, 1 ]", [Edit("remove", ("0",)), Edit("remove", ("1",))], "[]"),
        ("[0, 1]", [Edit("add", ("-",), 2), Edit("add", ("-",), 3), Edit("remove", ("1",))], "[0, 2, 3]"),
        ('{"a": 1, "a": 2}', [Edit("replace", ("a",), 3)], '{"a": 3, "a": 2}'),
        (
            INDENTED,
            [Edit("add", ("map", "a"), []), Edit("add", ("map", "a", "-"), {}), Edit("add", ("map", "a", "0", "b"), 1)],
            INDENTED.replace("{}", '{\n    "a": [\n      {\n        "b": 1\n      }\n    ]\n  }'),
        ),
    ],
)
def test_positions_are_those_in_the_original_text(text, edits, after):
    assert edited(text, edits) == after


def test_the_deepest_list_can_be_edited():
    assert edited("[" * 512 + "]" * 512, [Edit("add", ("0",) * 511 + ("-",), 1)]) == "[" * 512 + "1" + "]" * 512


@pytest.mark.parametrize(
    "edit",
    [
        Edit("replace", ("b",), 1),
        Edit("remove", ("a", "2")),
        Edit("replace", ("a", "0", "x"), 1),
        Edit("add", ("a", "0"), 1),
        Edit("add", ("c",), 1),
        Edit("remove", ()),
    ],
    ids=str,
)
def test_a_place_that_does_not_exist_or_is_taken_is_an_error(edit):
    with pytest.raises(LookupError):
        edited('{"a": [1, 2], "c": 3}', [edit])


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)
styles = st.sampled_from([{}, {"indent": 1}, {"indent": "\t"}, {"separators": (",", ":")}, {"ensure_ascii": False}])


def places(value, at=()):
    """The paths of all values in a value, and those of new ones."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for token, inner in inside:
        yield from (Edit(op, (*at, str(token))) for op in ("replace", "remove"))
        yield from places(inner, (*at, str(token)))
    if isinstance(value, list):
        yield Edit("add", (*at, "-"))
    elif isinstance(value, dict) and "new" not in value:
        yield Edit("add", (*at, "new"))


def changed(value, edit):
    """A changed copy of a value."""
    value = copy.deepcopy(value)
    holder, last = value, edit.tokens[-1]
    for token in edit.tokens[:-1]:
        holder = holder[int(token) if isinstance(holder, list) else token]
    if last == "-" and isinstance(holder, list):
        holder.append(edit.value)
    elif edit.op == "remove":
        del holder[int(last) if isinstance(holder, list) else last]
    else:
        holder[int(last) if isinstance(holder, list) else last] = edit.value
    return value


@given(values.filter(lambda value: isinstance(value, (list, dict))), values, styles, st.data())
def test_the_edited_text_is_the_json_of_the_edited_value(document, new, style, data):
    text = json.dumps(document, **style)
    edit = data.draw(st.sampled_from(list(places(document))))._replace(value=new)
    after = edited(text, [edit])
    assert json.loads(after) == changed(document, edit)


@given(values.filter(lambda value: isinstance(value, (list, dict))), styles, st.data())
def test_a_value_that_is_replaced_with_another_one_and_back_leaves_the_text_as_it_was(document, style, data):
    text = json.dumps(document, **style)
    edit = data.draw(
        st.sampled_from([each for each in places(document) if each.op == "replace"] or [Edit("replace", ())])
    )
    old = document
    for token in edit.tokens:
        old = old[int(token) if isinstance(old, list) else token]
    if not isinstance(old, (str, list, dict)):
        assert edited(text, [edit._replace(value="x"), edit._replace(value=old)]) == text
