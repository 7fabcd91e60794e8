"""Ids that may differ and references that must agree: the settings, the results, and what is refused."""

from __future__ import annotations

import json
import random

import jsonschema
import pytest
from typer.testing import CliRunner

from arbitre import Comparator, bundled
from arbitre.cli import app
from arbitre.comparison import Comparison
from arbitre.comparison.coreference import CoreferenceCounts
from arbitre.errors import DataError, SchemaError
from arbitre.suggestions.reference_census import ReferenceCensus

EXACT = {"type": "string", "x-arbitre": {"distance": "exact"}}
ID = {"type": "string", "x-arbitre": {"id": "person"}}
REF = {"type": "string", "x-arbitre": {"ref": "person"}}
REFS = {"type": "array", "items": {"type": "string"}, "x-arbitre": {"ref": "person"}}


def obj(**fields):
    return {"type": "object", "properties": fields}


def array(items, **settings):
    return {"type": "array", "items": items} | ({"x-arbitre": settings} if settings else {})


def people(**fields):
    return array(obj(id=ID, name={"type": "string"}, **fields))


TEXT = {"type": "string"}
NUMBERED = obj(
    people=array(
        obj(
            id={"type": "number", "x-arbitre": {"id": "person"}},
            name=TEXT,
            boss={"type": "number", "x-arbitre": {"ref": "person"}},
        )
    )
)
LETTERS = obj(
    people=people(father=REF, knows=REFS),
    letters=array(obj(date={"type": "string"}, sender=REF, receiver=REF)),
)
GOLD = {
    "people": [
        {"id": "a", "name": "Ada", "knows": ["b"]},
        {"id": "b", "name": "Bob", "father": "a"},
        {"id": "c", "name": "Cyrus", "knows": ["a", "b"]},
    ],
    "letters": [
        {"date": "1918-11-03", "sender": "a", "receiver": "b"},
        {"date": "1919-01-10", "sender": "c", "receiver": "b"},
    ],
}
PREDICTED = {
    "people": [
        {"id": "x", "name": "Bob", "father": "y"},
        {"id": "y", "name": "Ada", "knows": ["x"]},
        {"id": "z", "name": "Cyrus", "knows": ["y", "q9"]},
    ],
    "letters": [
        {"date": "1918-11-03", "sender": "x", "receiver": "y"},
        {"date": "1919-01-10", "sender": "z", "receiver": "x"},
    ],
}


def compare(schema, gold, predicted):
    return Comparator(schema).compare(gold=gold, predicted=predicted)


class TestResult:
    FOUND = compare(LETTERS, GOLD, PREDICTED)

    def test_the_pairs_are_those_of_the_names(self):
        found = self.FOUND.references["person"]
        assert found.pairs == (("a", "y"), ("b", "x"), ("c", "z"))
        assert found.unpaired == ((), ())
        assert found.dangling == ("q9",)
        assert found.objective == found.bound == self.FOUND.quality
        assert found.proven

    def test_only_references_that_point_to_partners_count(self):
        """Of the persons, one has one of two references; of the letters, one has both references wrong."""
        assert self.FOUND.quality == pytest.approx((((1 + 1 + (1 + 0.5) / 2) / 3) + (1 / 3 + 1) / 2) / 2)

    def test_verdicts_say_what_wrong_references_point_to(self):
        assert {row.pointer: row.reference.text for row in self.FOUND.explain() if row.reference} == {
            "/letters/0/sender": "points to Bob, should point to Ada",
            "/letters/0/receiver": "points to Ada, should point to Bob",
            "/people/2/knows/1": "points to q9 (no item has this id), should point to Bob",
        }
        assert self.FOUND.at("/letters/0/sender").reference.to == "Bob"
        assert self.FOUND.at("/letters/1/sender").reference is None

    def test_missing_and_spurious_references(self):
        gold = {"people": [{"id": "a", "name": "Ada"}, {"id": "b", "name": "Bob", "father": "a"}]}
        predicted = {"people": [{"id": "1", "name": "Ada", "father": "2"}, {"id": "2", "name": "Bob"}]}
        notes = [row.reference.text for row in compare(LETTERS, gold, predicted).explain() if row.reference]
        assert notes == ["should point to Ada", "points to Bob"]

    def test_entries_of_the_same_name_are_told_apart_by_their_ids(self):
        gold = {"people": [{"id": "a", "name": "Ada", "knows": ["b"]}, {"id": "b", "name": "Ada"}]}
        predicted = {"people": [{"id": "x", "name": "Ada", "knows": ["x"]}, {"id": "y", "name": "Ada"}]}
        (note,) = (row.reference.text for row in compare(LETTERS, gold, predicted).explain() if row.reference)
        assert note == "points to Ada (x), should point to Ada (b)"

    def test_unpaired_and_repeated_ids(self):
        gold = {"people": [{"id": "a", "name": "Ada"}, {"id": "b", "name": "Bob"}]}
        predicted = {"people": [{"id": "x", "name": "Ada"}, {"id": "x", "name": "Zed"}, {"name": "Bo"}]}
        found = compare(LETTERS, gold, predicted).references["person"]
        assert found.pairs == (("a", "x"), ("b", None))
        assert found.unpaired == ((), (None,))
        assert found.repeated == ("x",)

    def test_the_json_form(self):
        plain = json.loads(json.dumps(self.FOUND.to_dict()))
        jsonschema.validate(plain, bundled.schema("comparison.schema.json"))
        read = Comparison.from_dict(plain)
        assert read.references["person"].to_dict() == plain["references"]["person"]
        assert [row.reference for row in read.explain()] == [row.reference for row in self.FOUND.explain()]
        assert read.references["person"].coreference == self.FOUND.references["person"].coreference

    def test_the_command_prints_the_pairs_and_the_notes(self, tmp_path):
        files = {"schema": LETTERS, "gold": GOLD, "predicted": PREDICTED}
        paths = {name: tmp_path / f"{name}.json" for name in files}
        for name, document in files.items():
            paths[name].write_text(json.dumps(document))
        called = ["compare", "--schema", *map(str, paths.values())]
        output = CliRunner().invoke(app, called, env={"COLUMNS": "160"}).output
        assert "points to Bob, should point to Ada" in output
        row = next(line for line in output.splitlines() if line.startswith("person "))
        assert row.split()[:4] == ["person", "3", "yes", "q9"]

    def test_a_schema_without_ids_has_no_references(self):
        found = compare(array({"type": "string"}), ["a"], ["b"])
        assert found.references == {}
        assert "references" not in found.to_dict()

    def test_mentions_are_the_references(self):
        found = self.FOUND.references["person"].coreference_counts
        assert found.mentions == (8.0, 8.0)
        assert found.entities == (3.0, 4.0)  # q9 is an entity of its own


class TestItemsThatLookAlike:
    """Only references distinguish two of five items, so they must decide which items are partners."""

    OTHERS = tuple({"id": name, "name": name} for name in ("Max", "Ida", "Ute"))

    def test_one_reference_in_an_item_without_an_id(self):
        twins = [{"id": "a", "name": "Karl"}, {"id": "b", "name": "Karl"}]
        gold = {"people": [*twins, *self.OTHERS], "letters": [{"sender": "a"}]}
        found = compare(LETTERS, gold, gold | {"people": [*reversed(twins), *self.OTHERS]})
        assert found.quality == 1.0
        assert found.references["person"].proven

    def test_items_that_refer_to_each_other(self):
        twins = [{"id": "a", "name": "Karl", "father": "b"}, {"id": "b", "name": "Karl", "father": "a"}]
        gold = {"people": [*twins, *self.OTHERS[:2], {"id": "Ute", "name": "Ute", "knows": ["Ute", "a"]}]}
        predicted = {"people": [*reversed(twins), *gold["people"][2:]]}
        assert compare(LETTERS, gold, predicted).quality == 1.0

    def test_the_order_of_references(self):
        schema = obj(people=people(), order=array(TEXT, ref="person", match="ordered"))
        twins = [{"id": "a", "name": "Karl"}, {"id": "b", "name": "Karl"}]
        gold = {"people": [*twins, *self.OTHERS], "order": ["a", "b"]}
        assert compare(schema, gold, gold | {"people": [*reversed(twins), *self.OTHERS]}).quality == 1.0

    def test_the_items_around_them(self):
        """Rooms that look alike and have the same doors are not exchanged if they are in different houses."""
        room = obj(id=ID, use=EXACT, doors=REFS)
        schema = obj(houses=array(obj(address=EXACT, rooms=array(room))))
        uses = {"a": "hall", "b": "hall", "c": "bath", "d": "attic"}
        doors = {"a": ["a", "c"], "b": ["b", "d"]}

        def house(address, rooms, prefix):
            made = [
                {"id": prefix + one, "use": uses.get(one, "cell"), "doors": [prefix + to for to in doors.get(one, ())]}
                for one in rooms
            ]
            return {"address": address, "rooms": made}

        gold = {"houses": [house("Ulm", "abcde", "g"), house("Jena", "fgh", "g")]}
        predicted = {"houses": [house("Jena", "gfh", "p"), house("Ulm", "ebacd", "p")]}
        assert compare(schema, gold, predicted).quality == 1.0

    @pytest.mark.parametrize("seed", range(5))
    def test_the_contents_of_items_that_refer_to_them(self, seed):
        """The number of persons rules out that all correspondences are compared."""
        schema = obj(people=people(), letters=array(obj(date=EXACT, sender=REF)), author=REF)
        rng = random.Random(seed)  # noqa: S311
        ids = range(8)
        letters = [(number % 2, rng.choice(ids)) for number in range(5)]

        def document(new):
            made = [{"date": str(date), "sender": new[sender]} for date, sender in rng.sample(letters, len(letters))]
            persons = [{"id": new[one], "name": "Karl"} for one in rng.sample(ids, len(ids))]
            return {"people": persons, "letters": made, "author": new[0]}

        gold, predicted = (document(rng.sample([f"p{one}" for one in ids], len(ids))) for _ in range(2))
        assert compare(schema, gold, predicted).quality == 1.0


class TestAmbiguous:
    def test_a_triangle_of_unnamed_persons_cannot_be_told_apart(self):
        persons = [{"id": one, "knows": [other]} for one, other in zip("abc", "bca", strict=True)]
        gold = {"people": [*persons, {"id": "d", "name": "Dora"}]}
        assert compare(LETTERS, gold, gold).references["person"].ambiguous == (("a", "b", "c"),)

    def test_twins_that_the_structure_tells_apart_are_not_ambiguous(self):
        gold = {"people": [{"id": "a", "name": "Ada"}, {"id": "b", "name": "Ada", "father": "a"}]}
        predicted = {"people": [{"id": "1", "name": "Ada", "father": "2"}, {"id": "2", "name": "Ada"}]}
        found = compare(LETTERS, gold, predicted)
        assert found.quality == 1.0
        assert found.references["person"].ambiguous == ()
        assert found.references["person"].pairs == (("a", "2"), ("b", "1"))

    @pytest.mark.parametrize(("other", "expected"), [("1915", ()), ("1914", (("a", "b"),))])
    def test_letters_of_other_dates_distinguish_their_senders(self, other, expected):
        twins = [{"id": "a", "name": "Ada"}, {"id": "b", "name": "Ada"}]
        gold = {"people": twins, "letters": [{"date": "1914", "sender": "a"}, {"date": other, "sender": "b"}]}
        assert compare(LETTERS, gold, gold).references["person"].ambiguous == expected


class TestKindsOfIds:
    def test_integers(self):
        number = {"type": "integer", "x-arbitre": {"id": "n"}}
        schema = array(obj(id=number, text={"type": "string"}, next={"type": "integer", "x-arbitre": {"ref": "n"}}))
        gold = [{"id": 1, "text": "one", "next": 2}, {"id": 2, "text": "two"}]
        predicted = [{"id": 20, "text": "two"}, {"id": 10, "text": "one", "next": 20}]
        assert compare(schema, gold, predicted).quality == 1.0
        assert compare(schema, gold, predicted).references["n"].pairs == ((1, 10), (2, 20))

    def test_integers_that_gold_uses_for_other_items(self):
        gold = {"people": [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bob", "boss": 1}]}
        predicted = {"people": [{"id": 2, "name": "Ada"}, {"id": 1, "name": "Bob", "boss": 2}]}
        found = Comparator(NUMBERED).evaluate([(f"{at}", gold, predicted) for at in range(6)], diagnose=True)
        assert found.micro.f1q == 1.0
        assert (found.diagnosis.faults, found.causes) == ((), ())
        assert compare(NUMBERED, gold, predicted).patch() == ()

    @pytest.mark.parametrize("several", [False, True])
    def test_a_patch_uses_the_integers_of_the_prediction(self, several):
        number = {"type": "integer", "x-arbitre": {"id": "room"}}
        door = {"type": "integer"}
        door = array(door, ref="room") if several else door | {"x-arbitre": {"ref": "room"}}
        schema = obj(rooms=array(obj(id=number, use=TEXT, door=door)))
        refer = (lambda room: [room]) if several else (lambda room: room)
        kitchen = {"id": 11, "use": "kitchen"}
        gold = {"rooms": [{"id": 1, "use": "kitchen"}, {"id": 2, "use": "bath", "door": refer(1)}]}
        predicted = {"rooms": [kitchen]}
        patch = compare(schema, gold, predicted).patch()
        assert patch.apply(predicted) == {"rooms": [kitchen, {"id": 2, "use": "bath", "door": refer(11)}]}
        predicted = {"rooms": [kitchen, {"id": 12, "use": "bath", "door": refer(12)}]}
        patch = compare(schema, gold, predicted).patch()
        assert patch.apply(predicted) == {"rooms": [kitchen, {"id": 12, "use": "bath", "door": refer(11)}]}

    def test_keys_of_maps_are_ids_and_keys_of_maps_refer(self):
        roles = {"type": "object", "additionalProperties": EXACT, "x-arbitre": {"ref": "person"}}
        persons = {
            "type": "object",
            "additionalProperties": obj(name=EXACT, born={"type": "integer"}),
            "x-arbitre": {"id": "person"},
        }
        schema = obj(people=persons, roles=roles)
        ada, bob = {"name": "Ada", "born": 1815}, {"name": "Bob"}
        gold = {"people": {"a": ada, "b": bob}, "roles": {"a": "clerk", "b": "monk"}}
        right = {"people": {"1": bob, "2": ada}, "roles": {"1": "monk", "2": "clerk"}}
        swapped = right | {"roles": {"2": "monk", "1": "clerk"}}
        assert compare(schema, gold, right).quality == 1.0
        assert compare(schema, gold, swapped).quality == 0.5
        found = compare(schema, gold, swapped)
        assert found.references["person"].pairs == (("a", "2"), ("b", "1"))
        assert found.at("/people/a/name").predicted_pointer == "/people/2/name"
        assert found.patch().apply(swapped) == right
        assert Comparison.from_dict(json.loads(json.dumps(found.to_dict()))).quality == 0.5

    def test_composite_ids(self):
        text, number = EXACT, {"type": "integer"}
        line = obj(order=text, no=number, item=text, price=number) | {
            "x-arbitre": {"id": {"scope": "line", "key": ["order", "no"]}}
        }
        parcel = obj(order=text, no=number) | {"x-arbitre": {"ref": {"scope": "line", "key": ["order", "no"]}}}
        schema = obj(lines=array(line), parcels=array(parcel))
        gold = {
            "lines": [{"order": "A", "no": 1, "item": "ink"}, {"order": "A", "no": 2, "item": "pens", "price": 3}],
            "parcels": [{"order": "A", "no": 2}],
        }
        right = {
            "lines": [{"order": "Z", "no": 7, "item": "pens", "price": 3}, {"order": "Z", "no": 8, "item": "ink"}],
            "parcels": [{"order": "Z", "no": 7}],
        }
        wrong = right | {"parcels": [{"order": "Z", "no": 8}]}
        assert compare(schema, gold, right).quality == 1.0
        assert compare(schema, gold, wrong).quality == 0.5
        assert compare(schema, gold, right).references["line"].pairs == ((("A", 1), ("Z", 8)), (("A", 2), ("Z", 7)))
        assert compare(schema, gold, wrong).patch().apply(wrong) == right

    def test_two_scopes_that_refer_to_each_other(self):
        place = {"type": "string", "x-arbitre": {"id": "place"}}
        to_place = {"type": "string", "x-arbitre": {"ref": "place"}}
        schema = obj(people=people(home=to_place), places=array(obj(id=place, lord=REF)))
        gold = {
            "people": [{"id": "a", "name": "", "home": "p"}, {"id": "b", "name": "", "home": "q"}],
            "places": [{"id": "p", "lord": "b"}, {"id": "q", "lord": "b"}],
        }
        predicted = {
            "people": [{"id": "1", "name": "", "home": "y"}, {"id": "2", "name": "", "home": "x"}],
            "places": [{"id": "x", "lord": "2"}, {"id": "y", "lord": "2"}],
        }
        assert compare(schema, gold, predicted).quality == 1.0

    def test_lists_inside_entries_and_several_lists_of_a_scope(self):
        child = obj(id=ID, name={"type": "string"}, mother=REF)
        schema = obj(men=array(obj(id=ID, name={"type": "string"}, children=array(child))), women=people(friend=REF))
        gold = {
            "men": [{"id": "m", "name": "Max", "children": [{"id": "k", "name": "Kim", "mother": "w"}]}],
            "women": [{"id": "w", "name": "Wanda", "friend": "m"}],
        }
        predicted = {
            "men": [{"id": "1", "name": "Max", "children": [{"id": "2", "name": "Kim", "mother": "3"}]}],
            "women": [{"id": "3", "name": "Wanda", "friend": "1"}],
        }
        assert compare(schema, gold, predicted).quality == 1.0
        predicted["women"][0]["friend"] = "2"
        assert compare(schema, gold, predicted).quality == pytest.approx(0.75)

    def test_compared_ids(self):
        compared = {"type": "string", "x-arbitre": {"id": "person", "compare": True, "distance": "exact"}}
        schema = array(obj(id=compared, name={"type": "string"}))
        assert compare(schema, [{"id": "a", "name": "Ada"}], [{"id": "b", "name": "Ada"}]).quality == 0.5
        assert compare(schema, [{"id": "a", "name": "Ada"}], [{"id": "a", "name": "Ada"}]).quality == 1.0

    def test_normalised_ids(self):
        lower = {"type": "string", "x-arbitre": {"ref": "person", "normalize": "casefold"}}
        schema = obj(
            people=array(obj(id={"type": "string", "x-arbitre": {"id": "person", "normalize": "casefold"}})), head=lower
        )
        gold = {"people": [{"id": "a"}, {"id": "b"}], "head": "a"}
        assert compare(schema, gold, {"people": [{"id": "X"}, {"id": "y"}], "head": "x"}).quality == 1.0


def test_a_graded_reference_counts_as_much_as_its_entry():
    graded = {"type": "string", "x-arbitre": {"ref": {"scope": "person", "graded": True}}}
    schema = obj(people=array(obj(id=ID, name={"type": "string"}, born={"type": "integer"})), head=graded)
    gold = {"people": [{"id": "a", "name": "Ada", "born": 1815}], "head": "a"}
    predicted = {"people": [{"id": "x", "name": "Ada"}], "head": "x"}
    found = compare(schema, gold, predicted)
    assert found.at("/head").quality == found.at("/people/0").quality == 0.5
    assert found.quality == 0.5
    assert compare(schema, gold, predicted | {"head": "y"}).at("/head").quality == 0.0


class TestFamiliesListsAndCitations:
    """The usual examples of graphs in JSON."""

    def test_a_relabelled_family(self):
        schema = obj(people=people(father=REF, mother=REF))
        gold = {
            "people": [
                {"id": "1", "name": "Ann"},
                {"id": "2", "name": "Ben"},
                {"id": "3", "name": "Cat", "father": "2", "mother": "1"},
            ]
        }
        predicted = {
            "people": [
                {"id": "c", "name": "Cat", "father": "b", "mother": "a"},
                {"id": "b", "name": "Ben"},
                {"id": "a", "name": "Ann"},
            ]
        }
        assert compare(schema, gold, predicted).quality == 1.0
        predicted["people"][0] |= {"father": "a", "mother": "b"}
        assert compare(schema, gold, predicted).quality == pytest.approx((1 + 1 + 1 / 3) / 3)

    def test_member_lists(self):
        schema = obj(people=people(), groups=array(obj(title={"type": "string"}, members=REFS)))
        gold = {
            "people": [{"id": "a", "name": "Ada"}, {"id": "b", "name": "Bob"}, {"id": "c", "name": "Cy"}],
            "groups": [{"title": "chess", "members": ["a", "b"]}],
        }
        predicted = {
            "people": [{"id": "1", "name": "Cy"}, {"id": "2", "name": "Bob"}, {"id": "3", "name": "Ada"}],
            "groups": [{"title": "chess", "members": ["2", "3", "1"]}],
        }
        assert compare(schema, gold, predicted).quality == pytest.approx((1 + (1 + 2 / 3) / 2) / 2)

    def test_papers_and_citations(self):
        paper = {"type": "string", "x-arbitre": {"id": "paper"}}
        cites = {"type": "array", "items": {"type": "string"}, "x-arbitre": {"ref": "paper"}}
        schema = array(obj(key=paper, cites=cites))
        gold = [{"key": "a", "cites": ["b", "c"]}, {"key": "b", "cites": ["c"]}, {"key": "c", "cites": []}]
        predicted = [{"key": "x", "cites": []}, {"key": "y", "cites": ["x"]}, {"key": "z", "cites": ["x", "y"]}]
        found = compare(schema, gold, predicted)
        assert found.quality == 1.0
        assert found.references["paper"].pairs == (("a", "z"), ("b", "y"), ("c", "x"))

    def test_a_surplus_entry(self):
        schema = obj(people=array(obj(id=ID, name=EXACT)), letters=array(obj(date=EXACT, sender=REF)))
        letters = [{"date": "1918", "sender": "a"}, {"date": "1919", "sender": "a"}]
        gold = {"people": [{"id": "a", "name": "Ada"}], "letters": letters}
        predicted = {
            "people": [{"id": "x", "name": "Ada"}, {"id": "y", "name": "Eve"}],
            "letters": [letters[0] | {"sender": "x"}, letters[1] | {"sender": "y"}],
        }
        found = compare(schema, gold, predicted)
        assert found.references["person"].unpaired == ((), ("y",))
        assert found.quality == pytest.approx((1 / 2 + 3 / 4) / 2)
        assert [row.reference.text for row in found.explain() if row.reference] == [
            "points to Eve, should point to Ada"
        ]


class TestRefused:
    def problems(self, schema):
        with pytest.raises(SchemaError) as caught:
            Comparator(schema)
        return [problem.message for problem in caught.value.problems]

    @pytest.mark.parametrize(
        ("schema", "message"),
        [
            (obj(head=REF), 'refer to an unknown scope, "person": no field has this `id`'),
            (obj(people=people(), head={"type": "integer", "x-arbitre": {"ref": "person"}}), "as number, but"),
            (
                obj(
                    people={"type": "object", "additionalProperties": obj(name=TEXT), "x-arbitre": {"id": "person"}},
                    head=obj(a=TEXT, b=TEXT) | {"x-arbitre": {"ref": {"scope": "person", "key": ["a", "b"]}}},
                ),
                'A reference at /head has 2 fields, but an id of "person" has 1 field',
            ),
            (obj(people=array(obj(id={"type": "boolean", "x-arbitre": {"id": "person"}}))), "strings or integers"),
            (obj(id=ID), "The `id` at the root is not in an item of a list"),
            (array(ID), "`id` has no effect on an item of a list"),
            (
                obj(people={"type": "array", "items": obj(id=ID), "x-arbitre": {"match": {"keyed": {"key": "id"}}}}),
                "`match` is not allowed",
            ),
            (array(obj(id=ID, other=ID)), "one field with an `id`"),
            (array(obj(id=ID, head=REF | {"x-arbitre": {"ref": "person", "distance": "levenshtein"}})), "no effect"),
            (array(obj(id={"type": "string", "x-arbitre": {"compare": True}})), "no effect without an `id`"),
            (array(obj(x={"type": "string"}) | {"x-arbitre": {"id": {"scope": "s", "key": ["y"]}}}), 'field "y"'),
            (
                array(
                    obj(id=ID, a=obj(b={"type": "string"}) | {"x-arbitre": {"ref": {"scope": "person", "key": "b"}}})
                ),
                "Expected `ref` to be a scope",
            ),
        ],
    )
    def test_schemas(self, schema, message):
        assert any(message in problem for problem in self.problems(schema))

    def test_two_gold_entries_with_the_same_id(self):
        gold = {"people": [{"id": "a", "name": "Ada"}, {"id": "a", "name": "Bob"}]}
        with pytest.raises(
            DataError, match="the id 'a' of the scope `person`; the other one is /people/0 at /people/1"
        ):
            compare(LETTERS, gold, gold)

    def test_a_gold_reference_without_an_entry(self):
        gold = {"people": [{"id": "a", "name": "Ada"}], "letters": [{"sender": "b"}]}
        with pytest.raises(DataError, match=r"'b' in gold is dangling: no item .* at /letters/0/sender"):
            compare(LETTERS, gold, gold)
        found = Comparator(LETTERS).check_gold([gold]).findings
        assert [(one.check, one.pointer) for one in found] == [("references", "/letters/0/sender")]

    @pytest.mark.parametrize(
        ("gold", "pointer"),
        [
            ({"people": [{"id": 1.5, "name": "Ada"}]}, "/people/0"),
            ({"people": [{"id": 1, "name": "Ada", "boss": 2.5}]}, "/people/0/boss"),
        ],
    )
    def test_a_gold_value_that_cannot_be_an_id(self, gold, pointer):
        with pytest.raises(DataError, match=f"to be a text or an integer, got .* at {pointer}"):
            compare(NUMBERED, gold, gold)


def test_a_whole_float_is_the_same_id_as_the_integer():
    gold = {"people": [{"id": 1.0, "name": "Ada"}, {"id": 2, "name": "Bob", "boss": 1}]}
    predicted = {"people": [{"id": 7, "name": "Ada"}, {"id": 5.0, "name": "Bob", "boss": 7.0}]}
    found = compare(NUMBERED, gold, predicted)
    assert found.quality == 1.0
    assert found.references["person"].pairs == ((1, 7), (2, 5))


def test_items_with_ids_and_no_references_are_written_as_json():
    gold = {"people": [{"id": "a", "name": "Karl"}, {"id": "b", "name": "Karl"}], "letters": []}
    references = Comparator(LETTERS).compare(gold=gold, predicted=gold).to_dict()["references"]
    assert references["person"]["ambiguous"] == [["a", "b"]]


def test_a_patch_gives_no_item_the_id_of_another_one():
    gold = {"people": [{"id": 1, "name": "Ute"}, {"id": 2, "name": "Anna", "boss": 1}]}
    predicted = {"people": [{"id": 2, "name": "Anna", "boss": 1}]}
    comparator = Comparator(NUMBERED)
    repaired = comparator.compare(gold=gold, predicted=predicted).patch().apply(predicted)
    assert [one["id"] for one in repaired["people"]] == [2, repaired["people"][0]["boss"]]
    assert comparator.compare(gold=gold, predicted=repaired).quality == 1.0


def test_the_certificate_states_what_the_distance_depends_on():
    found = Comparator(LETTERS).certificate
    assert found.verdict == "metric"
    assert ("/people/*", "id") in {(one.path, one.by) for one in found.identifies}
    assert "/letters/*/sender" in {one.path for one in found.assumes}
    graded = {"type": "string", "x-arbitre": {"ref": {"scope": "person", "graded": True}}}
    assert Comparator(obj(people=people(), head=graded)).certificate.verdict == "not a metric"


def test_the_coreference_scores_of_a_corpus_are_those_of_all_documents():
    pairs = [("right", GOLD, json.loads(json.dumps(GOLD))), ("wrong", GOLD, PREDICTED)]
    counts = [compare(LETTERS, gold, predicted).references["person"].coreference_counts for _, gold, predicted in pairs]
    found = Comparator(LETTERS).evaluate(pairs).coreference
    assert found == {"person": CoreferenceCounts.sum(counts).scores}
    assert Comparator({"type": "array"}).evaluate([("a", [], [])]).coreference == {}


def test_gold_suggests_ids_and_references():
    from arbitre.comparator.schemas import infer_schema

    documents = [
        {
            "people": [{"id": f"p{at}", "name": f"n{number}{at}"} for at in range(3)],
            "letters": [{"sender": f"p{at}", "pages": at} for at in range(3)],
        }
        for number in range(4)
    ]
    (advice,) = (one for one in infer_schema(documents).advice if one.kind == "references")
    assert advice.change == {"/people/*/id": {"id": "people"}, "/letters/*/sender": {"ref": "people"}}


@pytest.mark.slow
def test_the_causes_of_wrong_references():
    schema = obj(people=people(), letters=array(obj(date={"type": "string"}, sender=REF, receiver=REF)))
    names = ("Ada", "Bob", "Cyrus", "Dora")

    def documents(change):
        for number in range(9):
            persons = [{"id": f"g{at}", "name": name} for at, name in enumerate(names)]
            letters = [{"date": f"1918-0{at + 1}", "sender": f"g{at}", "receiver": f"g{at + 1}"} for at in range(3)]
            gold = {"people": persons, "letters": letters}
            predicted = json.loads(json.dumps(gold).replace('"g', '"h'))
            change(predicted, number)
            yield f"{number}", gold, predicted

    def merged(document, number):
        gone = number % 3
        document["people"].pop(gone)
        for letter in document["letters"]:
            letter.update({end: "h3" for end in ("sender", "receiver") if letter[end] == f"h{gone}"})

    def split(document, number):
        document["people"].append({"id": "h9", "name": names[number % 3]})
        document["letters"][number % 3]["sender"] = "h9"

    def dangling(document, number):
        document["letters"][number % 3]["sender"] = "nobody"

    def swapped(document, number):
        letter = document["letters"][number % 3]
        letter.update(sender=letter["receiver"], receiver=letter["sender"])

    def kinds(change):
        return {cause.kind for cause in Comparator(schema).evaluate(documents(change), diagnose=True).causes}

    assert "merged-targets" in kinds(merged)
    assert kinds(split) & {"split-target", "duplicated"}
    assert "dangling-reference" in kinds(dangling)
    assert kinds(swapped) & {"swapped-references", "columns-swapped", "moved-value"}


@pytest.mark.parametrize(
    ("kind", "ids"),
    [
        ({"type": "string", "normalize": "casefold"}, ("A", "B")),
        ({"type": "number"}, (1.0, 2)),
        ({"type": "number"}, (1, 2)),
    ],
)
def test_the_causes_of_references_by_other_spellings_of_ids(kind, ids):
    setting = {name: value for name, value in kind.items() if name != "type"}
    number, reference = ({"type": kind["type"], "x-arbitre": {role: "person"} | setting} for role in ("id", "ref"))
    schema = obj(people=array(obj(id=number, name=TEXT)), letters=array(obj(date=EXACT, sender=reference)))
    people = [{"id": one, "name": name} for one, name in zip(ids, ("Ada", "Bob"), strict=True)]
    letters = [{"date": "1914", "sender": ids[0]}, {"date": "1915", "sender": ids[1]}]
    gold = {"people": people, "letters": letters}
    predicted = {"people": people, "letters": [letters[0], letters[1] | {"sender": ids[0]}]}
    found = Comparator(schema).evaluate([(f"{at}", gold, predicted) for at in range(12)], diagnose=True)
    assert [cause.kind for cause in found.causes] == ["other-target"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("id", True), ("personId", True), ("xml:id", True), ("line_no", True), ("ID", True), ("Nr", True)]
    + [(name, False) for name in ("paid", "valid", "Grid", "kid", "note", "monkey")],
)
def test_names_that_suggest_ids(name, expected):
    census = ReferenceCensus()
    for number in range(6):
        one, other = f"Item {number}", f"Item {number + 10}"
        census.add({"items": [{name: one}, {name: other}], "first": one, "last": other})
    assert [found.path[-1] for found in census.id_fields()] == [name] * expected
