"""The examples of a cause: which faults are shown, and where they are in the documents and in the report."""

import json

import pytest
from jsonschema import Draft202012Validator
from tests.worst_documents import keeping

from arbitre import Comparator, bundled
from arbitre.causes.examples import COSTLIEST, EXAMPLES, MAX_CHARACTERS, examples_of
from arbitre.causes.sample import Sample
from arbitre.causes.search import find_causes
from arbitre.comparison.cause import Cause, CauseAnalysis, CauseExample
from arbitre.inputs.join import JoinedCorpus
from arbitre.inputs.records import Pair
from arbitre.parsing.fast_json import json_text
from arbitre.report.build_view import align_causes, build_subject
from arbitre.report.entry_links import EntryLink, example_links
from arbitre.report.report_files import view_of
from arbitre.values import ABSENT

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "role": {"type": "string"},
        "pages": {"type": "array", "items": {"type": "integer"}},
    },
}
PEOPLE = {"type": "array", "items": PERSON, "x-arbitre": {"entries": True}}
PAGE = {"type": "object", "properties": {"people": PEOPLE, "title": {"type": "string"}}}
VIEW = bundled.schema("view.schema.json")


def sampled(triples, schema=PAGE):
    return Sample.of(Comparator(schema).plan, [Pair(name, None, *sides) for name, *sides in triples])


def one_fault(gold, predicted, schema=PAGE):
    """The only fault of a pair of documents, as an example."""
    sample = sampled([("d", gold, predicted)], schema)
    (example,) = examples_of(sample, sample.faults)
    return example


def entry(example):
    return example.gold_index, example.predicted_index


def person(name, **fields):
    return {"name": name, "pages": [1, 2], **fields}


def pages(count, entries, change):
    """Documents whose predictions are changed; `change(person, number, at)` returns the predicted person."""
    for number in range(count):
        gold = [person(f"Person {number} {at}", role="minister") for at in range(entries)]
        predicted = [change(dict(one), number, at) for at, one in enumerate(gold)]
        yield f"d{number:02}", {"people": gold}, {"people": predicted}


def test_the_most_costly_faults_come_first_from_different_documents_and_others_are_drawn():
    def change(one, number, at):
        return one | {"name": one["name"] + "?" * (at + 1 + number)}

    sample = sampled(pages(12, 4, change))
    examples = examples_of(sample, sample.faults)
    assert [one.costliest for one in examples] == [True] * COSTLIEST + [False] * (EXAMPLES - COSTLIEST)
    by_cost = sorted(sample.faults, key=lambda fault: -fault.lost)
    assert examples[0].gold_pointer == by_cost[0].gold_pointer
    assert len({one.id for one in examples[:COSTLIEST]}) == COSTLIEST
    assert len({(one.id, one.gold_pointer) for one in examples}) == EXAMPLES
    assert examples == examples_of(sampled(pages(12, 4, change)), sample.faults)  # the draw is seeded
    drawn = [(one.id, one.gold_pointer) for one in examples[COSTLIEST:]]
    ranked = [(sample.pairs[fault.document].id, fault.gold_pointer) for fault in by_cost]
    assert drawn != [place for place in ranked if place in drawn]


def test_examples_with_large_values_are_few():
    long = "x" * (MAX_CHARACTERS // 2)
    sample = sampled(pages(12, 2, lambda one, *_: one | {"name": one["name"] + long}))
    assert len(examples_of(sample, sample.faults)) == 3


@pytest.mark.parametrize(
    ("gold", "predicted", "pointers", "place", "indices"),
    [
        ({"people": [person("Ada")]}, {"people": [person("Bo")]},
         ("/people/0/name", "/people/0/name"), "/people/0/name", ("0", "0")),
        ({"people": [person("Ada"), person("Barthe", role="minister")]}, {"people": [person("Barthe", role="minister")]},
         ("/people/0", None), "/people/0", ("0", None)),
        ({"people": [person("Ada")]}, {"people": [person("Zoé", role="poet"), person("Ada")]},
         (None, "/people/0"), "/people/-", (None, "0")),
        ({"people": [person("Ada")]}, {"people": [person("Ada", role="poet")]},
         (None, "/people/0/role"), "/people/0/role", ("0", "0")),
        ({"people": [person("Ada")]}, {"people": [person("Ada", pages=[1, 2, 3])]},
         (None, "/people/0/pages/2"), "/people/0/pages/-", ("0", "0")),
        ({"title": "Index", "people": []}, {"title": "Indices", "people": []},
         ("/title", "/title"), "/title", (None, None)),
    ],
    ids=["wrong", "missing item", "spurious item", "spurious field", "spurious inner item", "outside"],
)  # fmt: skip
def test_an_example_has_its_place_in_gold_and_its_entry(gold, predicted, pointers, place, indices):
    example = one_fault(gold, predicted)
    assert (example.gold_pointer, example.predicted_pointer) == pointers
    assert example.place == place
    assert entry(example) == indices


@pytest.mark.parametrize("kind", ["split", "merged"])
def test_gold_has_no_place_where_a_split_or_merge_can_be_corrected(kind):
    one, several = (
        [person("Ada", pages=[2, 394, 811, 1020])],
        [person("Ada", pages=[2]), person("Ada", pages=[394, 811, 1020])],
    )
    gold, predicted = (
        {"people": [*people, person("Bo")]} for people in ((one, several) if kind == "split" else (several, one))
    )
    sample = sampled([("d", gold, predicted)])
    (fault,) = (fault for fault in sample.faults if fault.fault == kind)
    (example,) = examples_of(sample, [fault])
    assert (example.place, example.gold_pointer) == (None, fault.gold_pointer)
    assert entry(example)[0] is not None


def test_the_fields_of_the_only_entry_are_its_entries():
    schema = {"type": "object", "properties": {"name": {"type": "string"}, "person": PERSON}}
    example = one_fault({"name": "x", "person": person("Ada")}, {"name": "x", "person": person("Bo")}, schema)
    assert (example.place, entry(example)) == ("/person/name", ("person", "person"))
    example = one_fault({"name": "x"}, {"name": "x", "person": {"name": "Bo"}}, schema)
    assert (example.predicted_pointer, example.place) == ("/person/name", "/person/name")
    assert example.creates == ("object",)
    assert entry(example) == (None, "person")


@pytest.mark.parametrize(
    ("gold", "predicted", "place", "creates"),
    [
        ({}, {"people": [person("Ada")]}, "/people/-", ("array",)),
        ({"people": [{"name": "Ada"}]}, {"people": [{"name": "Ada", "pages": [2]}]}, "/people/0/pages/-", ("array",)),
        ({"people": None}, {"people": [person("Ada")]}, None, ()),
    ],
    ids=["list of entries", "list of an entry", "null"],
)
def test_a_place_in_gold_may_need_a_new_list(gold, predicted, place, creates):
    sample = sampled([("d", gold, predicted)])
    example = next(one for one in examples_of(sample, sample.faults) if one.gold is ABSENT)
    assert (example.place, example.creates) == (place, creates)
    assert CauseExample.from_dict(json.loads(json.dumps(example.to_dict()))) == example


def test_a_place_in_gold_may_need_new_objects():
    schema = {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {
        "type": "object", "properties": {"names": {"type": "array", "items": {"type": "string"}}}}}}}}  # fmt: skip
    example = one_fault({}, {"a": {"b": {"names": ["Ada"]}}}, schema)
    assert (example.place, example.creates) == ("/a/b/names/-", ("object", "object", "array"))


def test_gold_has_no_place_in_a_list_with_fixed_positions_that_it_lacks():
    pair = {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]}
    sample = sampled([("d", {}, {"pair": ["Ada", 1815]})], {"type": "object", "properties": {"pair": pair}})
    examples = examples_of(sample, sample.faults)
    assert [(one.predicted_pointer, one.place, one.creates) for one in examples] == [
        ("/pair/0", None, ()),
        ("/pair/1", None, ()),
    ]


@pytest.mark.parametrize("predicted", [["Ada", None, 1843], ["Ada"]], ids=["null", "shorter"])
def test_a_value_that_the_prediction_lacks_at_a_position_is_null(predicted):
    """If gold lost the value without a replacement, the values after it would be at other positions."""
    kinds = [{"type": "string"}, {"type": "string"}, {"type": "integer"}]
    sample = sampled([("d", ["Ada", "London", 1843], predicted)], {"type": "array", "prefixItems": kinds})
    example = examples_of(sample, sample.faults_by_path["/1"])[0]
    assert (example.gold, example.predicted, example.place) == ("London", None, "/1")


@pytest.mark.parametrize("no_value", [None, "n/a"])
def test_a_value_that_counts_as_absent_is_the_gold_to_correct(no_value):
    schema = {"type": "object", "properties": {"born": {"x-arbitre": {"absent": [None, "n/a"]}}}}
    example = one_fault({"born": no_value}, {"born": "1869"}, schema)
    assert (example.gold, example.gold_pointer, example.place, example.creates) == (no_value, None, "/born", ())
    assert one_fault({}, {"born": "1869"}, schema).gold is ABSENT


def test_an_entry_in_a_list_in_a_list_has_both_positions():
    schema = {"type": "object", "properties": {"parts": {"type": "array", "items": {
        "type": "object", "properties": {"people": PEOPLE}}}}}  # fmt: skip
    gold = {"parts": [{"people": [person("Ada")]}, {"people": [person("Bo"), person("Cy")]}]}
    predicted = {"parts": [{"people": [person("Ada")]}, {"people": [person("Bo"), person("Cyd")]}]}
    assert entry(one_fault(gold, predicted, schema)) == ("1/1", "1/1")


def test_a_value_that_only_a_change_produces_has_no_place_in_the_prediction_but_its_entry():
    def change(one, _, at):
        return one | {"name": one["name"].upper() if at else f"{one['name']}!"}

    pairs = [(name, gold, {"result": predicted}) for name, gold, predicted in pages(8, 3, change)]
    analysis = find_causes(Comparator(PAGE).plan, [Pair(name, None, *sides) for name, *sides in pairs])
    wrapped, case = (next(one for one in analysis.causes if one.kind == kind) for kind in ("wrapped-root", "case"))
    assert wrapped.examples[0].gold_pointer.startswith("/people")
    for example in case.examples:
        assert example.predicted_pointer is None
        assert example.predicted == example.gold.upper()
        at = int(example.gold_index)
        assert example.place == example.gold_pointer == f"/people/{at}/name"
        assert example.predicted_index is None  # the entries of the prediction are elsewhere


def test_the_examples_survive_the_file():
    sample = sampled(pages(4, 2, lambda one, *_: one | {"role": "poet"}))
    cause = Cause("near", "prediction", ("/people/*/role",), 8, 0.1, 0.1, None, examples_of(sample, sample.faults))
    analysis = CauseAnalysis((cause,), 4, 4, 0.9, 1.0)
    assert CauseAnalysis.from_dict(json.loads(json.dumps(analysis.to_dict()))) == analysis


# In the report.


def reported(triples, schema=PAGE, **options):
    """The subject of a report with the causes of its documents."""
    plan = Comparator(schema).plan
    evaluation = Comparator(schema).evaluate(triples)
    kept, _ = keeping(plan, triples, **options)
    plain = json.loads(json_text(evaluation.to_dict()))
    return build_subject(plain, json.loads(json.dumps(kept.to_dict(evaluation, json_text(plain)))), name="one")


def test_the_view_has_the_examples_of_its_documents():
    triples = list(pages(5, 3, lambda one, *_: one | {"role": "poet"}))
    triples.append(("failed", {"people": [person("Ada")]}, None))
    subject = reported(triples)
    view = view_of([subject, subject])
    plain = json.loads(json.dumps(view.to_dict()))
    assert not list(Draft202012Validator(VIEW).iter_errors(plain))
    documents = {one["key"]: one for one in subject.explorer}
    rows = subject.causes["rows"]
    assert sum(len(row["examples"]) for row in rows) >= 15
    for row in rows:
        for example in row["examples"]:
            link = EntryLink(example["document"], example["gold_index"], example["predicted_index"])
            assert link.is_kept(documents)
    assert [(row["kind"], row["members"]) for row in plain["causes"]["rows"]] == [
        (row["kind"], [at, at]) for at, row in enumerate(rows)
    ]


def test_examples_of_documents_that_are_not_kept_are_left_out():
    triples = list(pages(6, 2, lambda one, *_: one | {"role": "poet"}))
    subject = reported(triples, keep=2)
    (row,) = subject.causes["rows"]
    assert {example["document"] for example in row["examples"]} == {one["key"] for one in subject.explorer}
    assert row["count"] == 12


@pytest.mark.parametrize("setting", [{}, {"x-arbitre": {"absent": ["", "N/A", None]}}])
@pytest.mark.parametrize("no_value", [None, "N/A"])
def test_no_example_is_left_out_if_the_fields_are_the_entries_and_values_count_as_absent(setting, no_value):
    schema = {"type": "object", "properties": {"name": {"type": ["string", "null"]}, "person": PERSON}} | setting
    values = (no_value, "Ada"), ("Ada", no_value), (no_value, no_value), ("Ada", "Bo")
    triples = [(f"d{at}", {"name": one}, {"name": other}) for at, (one, other) in enumerate(values * 3)]
    triples += [(f"p{at}", {"person": None}, {"person": {"name": "Bo"}}) for at in range(3)]
    causes = Comparator(schema).evaluate(triples).causes
    shown = reported(triples, schema).causes["rows"]
    assert [len(row["examples"]) for row in shown] == [len(cause.examples) for cause in causes]
    assert sum(len(cause.examples) for cause in causes) >= 9


def test_causes_of_several_systems_are_aligned_by_kind_and_the_path_of_systematic_ones():
    one = reported(list(pages(6, 2, lambda one, *_: one | {"name": one["name"].upper()})))
    two = reported(list(pages(6, 2, lambda one, *_: one | {"role": "poet"})))
    both = align_causes([one, two, reported(list(pages(2, 1, lambda one, *_: one)))])
    rows = {(row.kind, row.path): row.members for row in both.rows}
    assert rows == {("case", "/people/*/name"): [0, None, None], ("value-mapping", "/people/*/role"): [None, 0, None]}


def test_the_first_examples_of_all_causes_are_linked_first():
    systems = [
        Comparator(PAGE).evaluate(list(pages(6, 2, change)))
        for change in (lambda one, *_: one | {"role": "poet"}, lambda one, *_: one | {"name": "?"})
    ]
    links = list(example_links(systems, systems[0]))
    first = sorted((cause for one in systems for cause in one.causes), key=lambda cause: -cause.gain)
    assert [link.document for link in links[: len(first)]] == [cause.examples[0].id for cause in first]
    assert len(links) == sum(len(cause.examples) for cause in first)


def test_the_entries_of_examples_are_kept_in_documents_that_do_not_fit():
    triples = list(pages(4, 30, lambda one, number, at: one | ({"role": "poet"} if at == 7 + number else {})))
    triples.append(("bad", {"people": [person("Ada")] * 40}, {"people": []}))
    found = Comparator(PAGE).evaluate(triples)
    kept, evaluation = keeping(Comparator(PAGE).plan, triples, room=30_000)
    links = list(example_links([found], found))
    kept.fill(evaluation, JoinedCorpus(tuple(Pair(name, None, *sides) for name, *sides in triples)), links)
    documents = {one.plain["key"]: one.plain for one in kept.documents.values()}
    assert any(len(one["rows"]) < one["entries"] for one in documents.values())
    assert len({link.document for link in links}) == 5
    assert all(link.is_kept(documents) for link in links)
