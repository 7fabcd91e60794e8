"""Causes in the keys of objects: other spellings, other names, and ids as keys."""

import random

import pytest

from arbitre import Comparator
from arbitre.causes.search import find_causes
from arbitre.inputs.records import Pair

pytestmark = pytest.mark.slow

WORK = {"type": "object", "properties": {
    "container_title": {"type": "string"}, "issue_date": {"type": "string"}, "pages": {"type": "string"},
    "author": {"type": "object", "properties": {"family": {"type": "string"}, "given": {"type": "string"}}},
    "tags": {"type": "array", "items": {"type": "string"}}, "kind": {"enum": ["book", "article", "thesis"]}}}  # fmt: skip
WORKS = {"type": "array", "items": WORK}


def text(rng):
    return "".join(rng.choices("abcdefghijklmnop", k=9))


def works(number, seed=0):
    rng = random.Random(seed)  # noqa: S311
    return [
        [
            {
                "container_title": text(rng), "issue_date": f"{rng.randrange(1800, 1999)}-01-01", "pages": text(rng),
                "author": {"family": text(rng), "given": text(rng)}, "tags": [text(rng) for _ in range(3)],
                "kind": rng.choice(["book", "article", "thesis"]),
            }
            for _ in range(3)
        ]
        for _ in range(number)
    ]  # fmt: skip


def renamed(documents, **names):
    """Copies in which the keys of all items have other names."""
    return [
        [{names.get(key, key): inner for key, inner in item.items()} for item in document] for document in documents
    ]


def analysed(gold, predicted, schema=WORKS):
    """The causes that one explanation covers."""
    pairs = [Pair(f"{at:02}", None, *pair) for at, pair in enumerate(zip(gold, predicted, strict=True))]
    return [cause for cause in find_causes(Comparator(schema).plan, pairs).causes if cause.systematic]


def f1q(gold, predicted, schema=WORKS, overlay=None):
    triples = [(f"{at:02}", *pair) for at, pair in enumerate(zip(gold, predicted, strict=True))]
    return Comparator(schema, overlay=overlay).evaluate(triples).micro.f1q


@pytest.mark.parametrize(
    "names",
    [
        {"container_title": "container-title", "issue_date": "issue-date"},
        {"container_title": "containerTitle", "issue_date": "Issue Date", "pages": "page"},
        {"tags": "Tags", "author": "authors"},
    ],
)
def test_all_other_spellings_of_keys_are_one_cause_with_aliases(names):
    gold = works(12)
    predicted = [*gold[:3], *renamed(gold[3:], **names)]
    (cause,) = analysed(gold, predicted)
    assert (cause.kind, cause.side, cause.documents) == ("key-spelling", "prediction", 9)
    assert cause.change == {f"/*/{key}": {"aliases": [name]} for key, name in names.items()}
    assert cause.count == 9 * 3 * len(names)  # one fault with two ends for each field
    assert cause.gain == pytest.approx(1.0 - f1q(gold, predicted))
    assert f1q(gold, predicted, overlay=cause.change) == 1.0
    assert all(f'"{name}"' in cause.advice for name in names.values())


def test_aliases_are_added_to_those_of_the_schema():
    schema = {"type": "array", "items": {**WORK, "properties": WORK["properties"] | {
        "pages": {"type": "string", "x-arbitre": {"aliases": ["leaves"]}}}}}  # fmt: skip
    gold = works(12)
    predicted = [*renamed(gold[:6], pages="leaves"), *renamed(gold[6:], pages="Pages")]
    (cause,) = analysed(gold, predicted, schema)
    assert cause.change == {"/*/pages": {"aliases": ["leaves", "Pages"]}}


@pytest.mark.parametrize(
    ("names", "change"),
    [
        ({"container_title": "journal"}, {"/*/container_title": {"aliases": ["journal"]}}),
        ({"tags": "keywords"}, {"/*/tags": {"aliases": ["keywords"]}}),
        ({"author": "writer"}, {"/*/author": {"aliases": ["writer"]}}),
        ({"kind": "genre"}, {"/*/kind": {"aliases": ["genre"]}}),
    ],
)
def test_values_under_another_name_are_one_cause_with_an_alias(names, change):
    gold = works(12)
    predicted = renamed(gold, **names)
    (cause,) = analysed(gold, predicted)
    assert (cause.kind, cause.side, cause.change) == ("renamed-key", "prediction", change)
    assert cause.gain == pytest.approx(1.0 - f1q(gold, predicted))
    assert f1q(gold, predicted, overlay=change) == 1.0


def test_a_field_with_one_value_is_renamed_if_it_is_missing_just_where_the_other_key_is_present():
    gold = [[{**item, "pages": "State of New York"} for item in document] for document in works(12)]
    for predicted in ([*gold[:6], *renamed(gold[6:], pages="jurisdiction")], renamed(gold, pages="jurisdiction")):
        (cause,) = analysed(gold, predicted)
        assert (cause.kind, cause.change) == ("renamed-key", {"/*/pages": {"aliases": ["jurisdiction"]}})
    short = [[{**item, "pages": "a"} for item in document] for document in gold]
    assert [cause.kind for cause in analysed(short, renamed(short, pages="note"))] == ["default-value"]


def test_another_key_with_its_own_values_is_no_alias():
    rng, gold = random.Random(1), works(12)  # noqa: S311
    extra = [[{**item, "Pages": text(rng)} for item in document] for document in gold]
    other = [[{key: inner for key, inner in item.items() if key != "pages"} | {"note": text(rng)} for item in document]
             for document in gold]  # fmt: skip
    labels = [[{key: inner for key, inner in item.items() if key != "kind"}
               | {"form": rng.choice(["book", "article", "thesis"])} for item in document]
              for document in gold]  # fmt: skip
    for predicted in (extra, other, labels):
        assert analysed(gold, predicted) == []


@pytest.mark.parametrize("declared", [True, False])
def test_two_spellings_in_gold_are_a_cause_of_gold(declared):
    schema = {"type": "array", "items": {**WORK, "properties": WORK["properties"] | {
        "container-title": {"type": "string"}}}} if declared else WORKS  # fmt: skip
    whole = works(12)
    gold = [*whole[:6], *renamed(whole[6:], container_title="container-title")]
    for predicted in (whole, renamed(whole, container_title="container-title")):
        (cause,) = analysed(gold, predicted, schema)
        assert (cause.kind, cause.side, cause.documents) == ("key-spelling", "gold", 6)
        assert cause.change is None
        assert cause.gain == pytest.approx(1.0 - f1q(gold, predicted, schema))
        assert "in gold" in cause.advice


def test_two_declared_spellings_are_a_cause_of_the_schema():
    schema = {"type": "array", "items": {**WORK, "properties": WORK["properties"] | {
        "container-title": {"type": "string"}}}}  # fmt: skip
    gold = works(12)
    predicted = renamed(gold, container_title="container-title")
    (cause,) = analysed(gold, predicted, schema)
    assert (cause.kind, cause.side, cause.change) == ("key-spelling", "schema", None)


def keyed(document):
    return {item["pages"]: {key: inner for key, inner in item.items() if key != "pages"} for item in document}


@pytest.mark.parametrize("outer", [False, True])
def test_ids_as_keys_are_a_cause(outer):
    gold, predicted, schema, path = works(12), [keyed(one) for one in works(12)], WORKS, "the document"
    if outer:
        gold, predicted = [{"works": one} for one in gold], [{"works": one} for one in predicted]
        schema, path = {"type": "object", "properties": {"works": WORKS}}, '"/works"'
    (cause,) = analysed(gold, predicted, schema)
    assert (cause.kind, cause.side, cause.change) == ("ids-as-keys", "prediction", None)
    assert cause.gain == pytest.approx(1.0 - f1q(gold, predicted, schema))
    assert cause.advice == f'Ask for {path} as a list of objects, not as an object with the values of "pages" as keys.'


def test_ids_as_keys_of_three_documents_are_a_cause_although_each_is_one_fault():
    gold = works(12)
    predicted = [*map(keyed, gold[:3]), *gold[3:]]
    (cause,) = analysed(gold, predicted, WORKS)
    assert (cause.kind, cause.count, cause.documents) == ("ids-as-keys", 3, 3)
    assert cause.gain == pytest.approx(1.0 - f1q(gold, predicted, WORKS))


@pytest.mark.parametrize("numbers", [False, True])
def test_a_list_instead_of_an_object_with_ids_as_keys_is_a_cause(numbers):
    inner = {"type": "integer"} if numbers else WORK
    rng = random.Random(0)  # noqa: S311
    gold = [
        {text(rng): rng.randrange(10**6) for _ in range(3)} if numbers else keyed(document) for document in works(12)
    ]
    predicted = [
        [{"name": key, "count": value} if numbers else {"name": key, **value} for key, value in document.items()]
        for document in gold
    ]
    (cause,) = analysed(gold, predicted, {"type": "object", "additionalProperties": inner})
    assert cause.kind == "ids-as-keys"
    assert cause.advice == 'Ask for the document as an object with the values of "name" as keys, not as a list.'
    assert cause.gain == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["Pages", "leaves"])
def test_the_key_of_a_list_that_is_matched_by_this_key_is_found(name):
    schema = {**WORKS, "x-arbitre": {"match": {"keyed": {"key": "pages"}}}}
    gold = works(12)
    (cause,) = analysed(gold, renamed(gold, pages=name), schema)
    assert (cause.change, cause.gain) == ({"/*/pages": {"aliases": [name]}}, 1.0)


@pytest.mark.parametrize(("names", "kind"), [({"pages": "Pages"}, "key-spelling"), ({"tags": "words"}, "renamed-key")])
def test_other_keys_are_found_in_a_single_document(names, kind):
    (gold,) = works(1)
    (predicted,) = renamed([gold], **names)
    causes = Comparator(WORKS).compare(gold=gold, predicted=predicted).causes
    assert [(cause.kind, cause.count) for cause in causes] == [(kind, 3)]
    ((path, name),) = names.items()
    assert causes[0].change == {f"/*/{path}": {"aliases": [name]}}


def test_keys_in_an_object_under_another_key_are_found_after_it():
    gold = works(12)
    predicted = renamed(gold, author="authorship")
    for document in predicted:
        for item in document:
            item["authorship"] = {"surname": item["authorship"]["family"], "Given": item["authorship"]["given"]}
    causes = analysed(gold, predicted)
    changes = [cause.change for cause in causes]
    assert sum(cause.cost for cause in causes) == pytest.approx(1.0 - f1q(gold, predicted))
    overlay = {path: settings for change in changes for path, settings in change.items()}
    assert f1q(gold, predicted, overlay=overlay) == 1.0


def test_spellings_at_all_levels_are_one_cause():
    gold = works(12)
    predicted = renamed(gold, author="Author", tags="Tags")
    for document in predicted:
        for item in document:
            item["Author"] = {key.upper(): value for key, value in item["Author"].items()}
    (cause,) = analysed(gold, predicted)
    assert cause.change == {f"/*/{key}": {"aliases": [alias]} for key, alias in {
        "author": "Author", "tags": "Tags", "author/family": "FAMILY", "author/given": "GIVEN"}.items()}  # fmt: skip
    assert f1q(gold, predicted, overlay=cause.change) == 1.0


def test_fields_outside_their_object_are_one_promoted_cause():
    rng = random.Random(0)  # noqa: S311
    terms = {"place": {"type": "string"}, "amount": {"type": "integer"}, "open": {"type": "boolean"}}
    schema = {"type": "object", "properties": {
        "title": {"type": "string"}, "terms": {"type": "object", "properties": terms}}}  # fmt: skip
    gold = [
        {"title": text(rng), "terms": {"place": text(rng), "amount": rng.randrange(10**6), "open": rng.random() < 0.5}}
        for _ in range(12)
    ]
    predicted = [{"title": one["title"], **one["terms"]} for one in gold]
    (cause,) = analysed(gold, predicted, schema)
    assert (cause.kind, cause.gain) == ("promoted", pytest.approx(1.0 - f1q(gold, predicted, schema)))
    assert cause.change == {f"/terms/{key}": {"aliases": [key]} for key in terms}
    assert cause.advice == 'Ask for "amount", "place", "open" in "/terms"; predictions have them in the document.'
    (cause,) = analysed(predicted, gold, {"type": "object", "properties": {"title": {"type": "string"}, **terms}})
    assert (cause.kind, cause.change) == ("demoted", {f"/{key}": {"aliases": [f"terms/{key}"]} for key in terms})


@pytest.mark.parametrize("kind", ["promoted", "demoted"])
def test_a_field_with_few_values_on_another_level_is_found_by_its_key(kind):
    rng = random.Random(0)  # noqa: S311
    law, title = {"law": {"type": "string"}}, {"title": {"type": "string"}}
    sides = [
        {"type": "object", "properties": {"terms": {"type": "object", "properties": properties}}}
        for properties in ({**title, **law}, {**title, "loan": {"type": "object", "properties": law}})
    ]
    outer, inner = [], []
    for _ in range(12):
        terms, state = {"title": text(rng)}, {"law": rng.choice(["New York", "New York", "New York", "Texas"])}
        outer.append({"terms": {**terms, **state}})
        inner.append({"terms": {**terms, "loan": state}})
    schema, gold, predicted = (sides[1], inner, outer) if kind == "promoted" else (sides[0], outer, inner)
    (cause,) = analysed(gold, [*gold[:2], *predicted[2:]], schema)
    path, alias = ("/terms/loan/law", "terms/law") if kind == "promoted" else ("/terms/law", "loan/law")
    assert (cause.kind, cause.change) == (kind, {path: {"aliases": [alias]}})


def test_several_other_keys_of_a_field_are_aliases_together():
    gold = works(18)
    predicted = [*renamed(gold[:6], pages="Pages"), *renamed(gold[6:12], pages="leaves"), *gold[12:]]
    changes = [cause.change["/*/pages"]["aliases"] for cause in analysed(gold, predicted)]
    assert sorted(changes, key=len) == [["Pages"], ["Pages", "leaves"]]  # the second change contains the first
    assert f1q(gold, predicted, overlay={"/*/pages": {"aliases": ["Pages", "leaves"]}}) == 1.0


PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "born": {"type": "integer"},
        "children": {"type": "array", "items": {"$ref": "#"}},
    },
}


def person(number, depth):
    """A person with two children, down to a depth; everyone has another name."""
    children = [person(2 * number + child, depth - 1) for child in (1, 2)] if depth else []
    return {"name": f"Ada {number}", "born": 1700 + number, "children": children}


def with_other_names(one, depth):
    """A person whose descendants at a depth or below it have their names under another key."""
    children = [with_other_names(child, depth - 1) for child in one["children"]]
    return {"name" if depth > 0 else "nom": one["name"], "born": one["born"], "children": children}


def test_a_renamed_key_below_the_first_level_of_a_recursive_schema_is_found():
    gold = [person(number, 2) for number in (1, 20, 300, 4_000)]
    (cause,) = analysed(gold, [with_other_names(one, 2) for one in gold], PERSON)
    path = "/children/*/children/*/name"
    assert (cause.kind, cause.paths, cause.count) == ("renamed-key", (path,), 16)
    assert cause.change == {path: {"aliases": ["nom"]}}


def test_a_renamed_key_below_a_position_is_found():
    schema = {"type": "array", "prefixItems": [{"type": "string"}, {"type": "array", "items": PERSON | {"$id": "p"}}]}
    gold = [["page", [person(number, 0), person(number + 7, 0)]] for number in (1, 20, 300, 4_000)]
    predicted = [[page, [with_other_names(one, 0) for one in people]] for page, people in gold]
    (cause,) = analysed(gold, predicted, schema)
    assert (cause.kind, cause.paths, cause.change) == (
        "renamed-key",
        ("/1/*/name",),
        {"/1/*/name": {"aliases": ["nom"]}},
    )


def test_a_renamed_key_of_an_object_at_a_position_is_found():
    fields = {"type": "object", "properties": {name: PERSON["properties"][name] for name in ("name", "born")}}
    gold = [["page", {"name": f"Ada {number}", "born": 1700 + number}] for number in range(6)]
    predicted = [[page, {"nom": one["name"], "born": one["born"]}] for page, one in gold]
    (cause,) = analysed(gold, predicted, {"type": "array", "prefixItems": [{"type": "string"}, fields]})
    assert (cause.kind, cause.paths, cause.change) == ("renamed-key", ("/1/name",), {"/1/name": {"aliases": ["nom"]}})


def test_a_single_field_in_another_object_is_named_in_the_singular():
    rng = random.Random(0)  # noqa: S311
    gold = [{"title": text(rng), "year": rng.randrange(10**6)} for _ in range(12)]
    predicted = [{"meta": {"title": one["title"]}, "year": one["year"]} for one in gold]
    properties = {"title": {"type": "string"}, "year": {"type": "integer"}}
    (cause,) = analysed(gold, predicted, {"type": "object", "properties": properties})
    assert cause.advice == 'Ask for "title" in the document; predictions have it in "/meta".'
