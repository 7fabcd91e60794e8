"""Advice on a schema: what it finds, what it leaves alone, and what its settings do."""

from uuid import UUID

import pytest

import arbitre
from arbitre.errors import OptionError
from arbitre.parsing.fast_json import json_text
from arbitre.schema.compiling import compiler
from arbitre.schema.loading.infer import annotate, infer
from arbitre.suggestions.census import Census
from arbitre.suggestions.schema_advice import KINDS, find_schema_advice

pytestmark = pytest.mark.slow


def checked(gold, schema=None, **options):
    """The result of a check; without a schema, of the inferred one."""
    return arbitre.check_schema(schema or infer(gold), gold=gold, **options)


def advised(gold, schema=None, predicted=(), overlay=None):
    """The kind, the path and the settings of each piece of advice, without the checks of gold."""
    plan = arbitre.Comparator(schema or infer(gold), overlay=overlay).plan
    sides = Census(plan), Census(plan, predicted=True)
    for census, documents in zip(sides, (gold, predicted), strict=True):
        for document in documents:
            census.add(document)
    return [(one.kind, one.path, one.change) for one in find_schema_advice(*sides, overlay=overlay)]


def holding(values, key="x"):
    return [{key: value} for value in values]


DAYS = ["3/11/1918", "16/3/1924", "1/1/1920", "5/5/1931", "28/2/1930"]
ISO = ["1918-11-03", "1924-03-16", "1920-01-01", "1931-05-05", "1930-02-28"]
CODES = ["AB-1203", "AB-1204", "CD-0077", "CD-1310", "XY-0001"]
DATE = {"distance": "date"}


def dates(**options):
    return {"normalize": [{"date": options}], "distance": "date"}


NOTATIONS = {
    "ISO dates": (ISO, "date-format", DATE),
    "dates with a time": ([f"{day}T10:00:00Z" for day in ISO], "date-format", DATE),
    "months and years": ([*ISO, "1918", "1919-04"], "date-format", DATE),
    "day first": (DAYS, "date-format", dates(formats=["%d/%m/%Y"])),
    "month first": (
        ["11/3/1918", "3/16/1924", "1/1/1920", "5/5/1931", "2/28/1930"],
        "date-format",
        dates(formats=["%m/%d/%Y"]),
    ),
    "two marks": ([*DAYS, "3.11.1918"], "date-format", dates(formats=["%d/%m/%Y", "%d.%m.%Y"])),
    "compact": ([day.replace("-", "") for day in ISO], "date-format", dates(formats=["%Y%m%d"])),
    "month and year": (
        ["11/1918", "03/1924", "01/1920", "05/1931", "02/1930"],
        "date-format",
        dates(formats=["%m/%Y"]),
    ),
    "undecided": (["3/11/1918", "6/3/1924", "1/1/1920", "5/5/1931", "8/2/1930"], "date-format", None),
    "contradictory": ([*DAYS, "3/16/1924"], "date-format", None),
    "short years": (["3/11/18", "16/3/24", "1/1/20", "5/5/31", "28/2/30"], "date-format", None),
    "words": (
        ["3 novembre 1918", "16 mars 1924", "1er janvier 1920", "5 mai 1931", "février 1930"],
        "date-format",
        dates(languages=["fr"]),
    ),
    "integers": (["1", "20", "31", "4", "500"], "number-format", {"normalize": ["number"], "distance": "exact"}),
    "decimals": (["1.5", "20", "3.1", "4", "500.25"], "number-format", {"normalize": ["number"]}),
    "decimals of four digits": (
        ["3.1416", "2.7183", "1.4142", "1.6180", "0.5772"],
        "number-format",
        {"normalize": ["number"]},
    ),
    "decimal comma": (
        ["1,5", "20", "3,1", "1.234,5", "500,25"],
        "number-format",
        {"normalize": [{"number": {"decimal": ",", "group": "."}}]},
    ),
    "percentages": (
        ["1.5 %", "20 %", "3 %", "4 %", "50 %"],
        "number-format",
        {"normalize": [{"number": {"decimal": ".", "percent": True}}]},
    ),
    "an ambiguous comma": (["1,234", "2,345", "3,456", "4,567", "5,678"], "number-format", None),
    "amounts": (
        ["1.234,50 €", "12,00 €", "3,50 €", "4,25 €", "99,99 €"],
        "amount",
        {"normalize": [{"amount": {"decimal": ","}}]},
    ),
    "whole amounts": (["12 €", "3 €", "4 €", "99 €", "150 €"], "amount", {"normalize": ["amount"]}),
    "several currencies": (["12.50 €", "3.50 €", "4.25 €", "$99.99", "$1.10"], "amount", None),
    "codes": (CODES, "identifier", {"distance": "exact"}),
    "long numbers": (["100234", "772391", "450012", "992101", "310078"], "identifier", {"distance": "exact"}),
    "UUIDs": ([str(UUID(int=number)) for number in range(5)], "identifier", {"distance": "uuid"}),
    "DOIs": ([f"10.1000/{number}" for number in range(5)], "identifier", {"distance": "doi"}),
    "ISBNs": (
        ["978-0-306-40615-7", "9783161484100", "0-306-40615-2", "0471958697", "0-7475-3269-9"],
        "identifier",
        {"distance": "isbn"},
    ),
    "IBANs": (
        [
            "GB33 BUKB 2020 1555 5555 55",
            "DE89370400440532013000",
            "FR1420041010050500013M02606",
            "NL91ABNA0417164300",
            "BE68539007547034",
        ],
        "identifier",
        {"distance": "iban"},
    ),
    "addresses": ([f"ada{number}@example.org" for number in range(5)], "identifier", {"distance": "email"}),
    "URIs": ([f"https://example.org/{number}" for number in range(5)], "identifier", {"distance": "uri"}),
}


@pytest.mark.parametrize("name", NOTATIONS)
def test_texts_in_a_notation_are_found_with_the_settings_that_read_it(name):
    texts, kind, settings = NOTATIONS[name]
    if name == "words":
        pytest.importorskip("dateparser")
    change = settings and {"/x": settings}
    assert advised(holding(texts)) == [(kind, "/x", change)]
    assert advised(holding([*texts, "n/a"])) == [(kind, "/x", change)]  # one placeholder is not a text
    assert advised(holding(texts[:4])) == []
    unlike = ["see there", "no idea", "Ada Lovelace"][: 1 + len(texts) // 9]
    assert advised(holding([*texts, *unlike])) == []  # less than 90 %


@pytest.mark.parametrize(
    "texts",
    [
        ["1918-11-03", "1918-11-04"] * 10,
        ["1927", "1931", "1932", "1918", "1930"],
        ["75001", "69002", "13003", "31004", "59005"],
        ["007", "12", "13", "14", "15"],
        ["1:03.28", "1:04.81", "59.63", "55.77", "46.80"],
        ["90-94", "85-89", "80-84", "75-79", "70-74"],
        ["50m", "100m", "200m", "400m", "800m"],
        ["10x15", "13x18", "20x30", "9x13", "40x60cm"],
        ["1914-1918", "1939-1945", "1870-1871", "1789-1799", "1618-1648"],
        ["1.2.10", "1.3.11", "2.1.12", "2.4.13", "3.1.14"],
        ["Ada", "Bo", "Cy", "Di", "Ed"],
        ["JPN", "FRA", "PER", "BRA", "MEX"],
        ["AB-1203", "AB-1204", "AB-1203", "AB-1204", "AB-1205", "AB-1206", "AB-1207"],
        ["May 2020 was hot", "In 1918 he left", "March 1871", "the 3 cats of 1918", "4 dogs of 1919"],
        ["555 123 456", "555 123 457", "555 123 458", "555 123 459", "555 123 460"],
    ],
    ids=lambda texts: texts[0],
)
def test_other_texts_need_no_advice(texts):
    assert advised(holding(texts)) == []


@pytest.mark.parametrize(
    "declared",
    [
        {"format": "date"},
        {"x-arbitre": {"distance": "date"}},
        {"x-arbitre": {"distance": "yujian-bo"}},
        {"x-arbitre": {"distance": "exact"}},
        {"x-arbitre": {"normalize": [{"date": {"formats": ["%d.%m.%Y"]}}]}},
        {"x-arbitre": {"ignore": True}},
        {"enum": ISO},
    ],
    ids=str,
)
def test_declared_fields_need_no_advice(declared):
    schema = {"type": "object", "properties": {"x": {"type": "string"} | declared}}
    assert advised(holding(ISO), schema) == []
    plain = {"type": "object", "properties": {"x": {"type": "string"}}}
    assert advised(holding(ISO), plain, overlay={"/x": declared.get("x-arbitre", {"distance": "date"})}) == []
    assert advised(holding(ISO), plain) == [("date-format", "/x", {"/x": DATE})]


def test_normalisers_of_texts_are_kept():
    field = {"type": "string", "x-arbitre": {"normalize": ["squash-space", "casefold"]}}
    (advice,) = advised(holding(DAYS), {"type": "object", "properties": {"x": field}})
    assert advice[2]["/x"]["normalize"] == ["squash-space", "casefold", {"date": {"formats": ["%d/%m/%Y"]}}]


def test_texts_among_numbers_are_numbers_but_texts_among_lists_are_left_alone():
    assert advised(holding([1, 2, 3, "1", "20", "31", "4", "500"]))[0][0] == "number-format"
    assert advised(holding([[1], *ISO])) == []


# Values that stand for no value.

NAMES = [f"Person {letter}" for letter in "ABCDEFGHIJKLMNO"]


@pytest.mark.parametrize(
    "word", ["", " ", "null", "N/A", "n/a", "NOT_FOUND", "not available", "None", "-", "?", "NA", "unknown"]
)
def test_placeholders_in_gold_are_found_from_three_on(word):
    change = {"/x": {"absent": [None, word]}}
    assert advised(holding([*NAMES, word, word, word])) == [("absent-value", "/x", change)]
    assert advised(holding([*NAMES, word, word])) == []


@pytest.mark.parametrize(
    ("texts", "word"),
    [
        (["mild", "severe"] * 10, "none"),
        (["+", "±"] * 10, "-"),
        (["EU", "AS", "AF", "OC", "SA", "AN", "FR", "DE", "IT", "ES", "PT"], "NA"),
        (["yes", "no"], "None"),
        (["male", "female"] * 10, "unknown"),
    ],
    ids=lambda value: str(value)[:8],
)
def test_a_placeholder_that_can_be_a_category_is_left_alone(texts, word):
    assert advised(holding([*texts, word, word, word])) == []


def test_listed_and_declared_placeholders_need_no_advice():
    gold = holding(["a", "b", "", "", ""])
    for declared in ({"enum": ["a", "b", ""]}, {"x-arbitre": {"absent": [None, ""]}}):
        assert advised(gold, {"type": "object", "properties": {"x": {"type": "string"} | declared}}) == []


def test_placeholders_are_counted_over_all_paths_and_reported_together():
    gold = [{"x": "Ada", "y": "Bo", "z": ""}, {"x": "n/a", "y": "n/a", "z": ""}, {"x": "n/a", "y": "Di", "z": ""}]
    absent = {"absent": [None, "n/a"]}
    assert [one for one in advised(gold) if "/x" in one[2]] == [("absent-value", "", {"/x": absent, "/y": absent})]
    message = checked(gold).advice[0].message
    assert message.startswith('"n/a" (3 times in gold) probably stands for no value at /x, /y. Declare it as `absent`')


def test_placeholders_that_only_predictions_have_are_found():
    gold, empty = holding(NAMES), holding(["none"] * 3)
    assert advised(gold, predicted=empty) == [("absent-value", "/x", {"/x": {"absent": [None, "none"]}})]
    assert advised(gold, predicted=empty[:2]) == []
    evidence = checked(gold, predicted=empty).advice[0].evidence
    assert evidence == {"gold": 0, "predicted": 3, "examples": ["none"]}


@pytest.mark.parametrize("value", [["null"], [""], [None], ["n/a", "n/a"]], ids=str)
def test_lists_of_placeholders_are_absent_by_their_items(value):
    gold = holding([["Ada"], ["Bo"], ["Ada", "Cy"], value, value, value])
    ((kind, path, change),) = advised(gold)
    assert (kind, path) == ("absent-value", "/x")
    comparator = arbitre.Comparator(infer(gold), overlay=change)
    assert comparator.compare(gold={"x": value}, predicted={}).quality == 1.0


@pytest.mark.parametrize(
    ("gold", "predicted", "found"),
    [
        ([[], [], [], None, None, None], [], True),
        ([[], [], [], None, None], [], False),
        ([[], [], []], [], False),
        ([None, None, None], [[], [], []], True),
        ([[], [], []], [None, None, None], True),
        ([[], [], []], [None, None, None, []], False),
    ],
)
def test_empty_lists_are_placeholders_only_beside_another_notation_of_no_value(gold, predicted, found):
    lists = [["Ada"], ["Bo"]]
    given = advised(holding([*lists, *gold]), predicted=holding([*lists, *predicted]))
    assert given == ([("absent-value", "/x", {"/x": {"absent": [None, []]}})] if found else [])


# Keys.


def test_two_spellings_of_a_key_in_gold_are_found_unless_objects_have_both():
    gold = [{"container-title": "a"}, {"container-title": "b"}, {"container_title": "c"}, {"container_title": "d"}]
    assert advised(gold) == [("key-spelling", "", None)]
    assert '"container-title" (2 times) and "container_title" (2 times)' in checked(gold).advice[0].message
    assert advised(gold[:3]) == []
    assert advised([one | {"containerTitle": "x"} for one in gold]) == []


def test_another_spelling_in_predictions_becomes_an_alias():
    gold, predicted = holding(NAMES[:3], "Date/Time"), holding(NAMES[:3], "date/time")
    expected = {"/Date~1Time": {"aliases": ["date~1time"]}}
    assert advised(gold, predicted=predicted) == [("key-spelling", "/Date~1Time", expected)]
    assert advised(gold, predicted=predicted[:2]) == []
    assert advised(gold, predicted=predicted, overlay=expected) == []
    closed = {"": {"undeclared": "ignore"}}
    assert advised(gold, predicted=predicted, overlay=closed) == []
    assert advised(gold, predicted=[{**one, "Date/Time": "x"} for one in predicted]) == []
    known = {"/Date~1Time": {"aliases": ["when"]}}
    (advice,) = advised(gold, predicted=predicted, overlay=known)
    assert advice[2] == {"/Date~1Time": {"aliases": ["when", "date~1time"]}}


def test_gold_that_spells_a_declared_key_differently_is_found():
    schema = {"type": "object", "properties": {"container-title": {"type": "string"}}}
    gold = holding(NAMES, "container_title")
    assert advised(gold, schema) == [("key-spelling", "/container-title", None)]


def test_ids_as_keys_are_found_and_their_paths_need_no_advice():
    gold = [{"people": {f"p{10 * page + n}": {"name": "Ada", "born": ISO[n]} for n in range(3)}} for page in range(6)]
    assert advised(gold) == [("id-keys", "/people", None)]
    names = {"type": "object", "additionalProperties": {"type": "object", "properties": {"name": {"type": "string"}}}}
    declared = {"type": "object", "properties": {"people": names}}
    assert [one[0] for one in advised(gold, declared)] == ["constant"]


@pytest.mark.parametrize(
    ("gold", "found"),
    [
        ([{"q1": 1, "q2": 2, "q3": 3, "q4": 4, "q5": 5}] * 6, False),
        ([{"1": 1, "2": 2, "3": 3, "4": 4, "5": 5}] * 3, True),
        ([{"1": 1, "2": 2, "3": 3, "4": 4}] * 3, False),
        ([{f"p{10 * page + n}": [None, "a", "b"][n] for n in range(3)} for page in range(6)], True),
        ([{"1": 1, "2": "two", "3": 3, "4": 4, "5": 5}] * 3, False),
        ([{name: {"age": 3, "town": "x"}} for name in NAMES], True),
        ([{name: number} for number, name in enumerate(NAMES)], False),
        ([{name: {"age": 3}} for name in NAMES[:9]], False),
    ],
)
def test_keys_are_ids_if_they_are_numbers_or_rarely_recur(gold, found):
    assert ("id-keys" in [one[0] for one in advised(gold)]) is found


# Entries, and fields that say little.


def page(lines, extra=1):
    rows = [{"name": NAMES[number], "town": NAMES[-number]} for number in range(lines)]
    return {"lines": rows} | {f"field{number}": NAMES[number] for number in range(extra)}


def test_a_list_that_holds_most_values_may_hold_the_entries():
    assert advised([page(4), page(5)]) == [("entries", "/lines", {"/lines": {"entries": True}})]
    assert advised([page(2), page(3)]) == []
    assert advised([page(4, 3), page(5, 3)]) == []
    for overlay in ({"/lines": {"entries": False}}, {"": {"entries": True}}):
        assert advised([page(4), page(5)], overlay=overlay) == []
    assert advised([page(4, 0), page(5, 0)]) == []
    undeclared = [{"others": page(5)["lines"]}] * 2
    assert [one[:2] for one in advised([page(6), page(6), *undeclared], infer([page(6)]))] == []
    assert [one[0] for one in advised([{"lines": [{"name": None}] * 5, "title": None}] * 2)] == ["unused"]
    volume = {"volume": "I", "parts": [{"lines": page(5)["lines"]}, {"lines": page(4)["lines"]}]}
    assert advised([volume, volume]) == [("entries", "/parts/*/lines", {"/parts/*/lines": {"entries": True}})]


def test_two_lists_that_hold_most_values_are_named_without_a_choice():
    gold = [page(4) | {"votes": page(number)["lines"]} for number in (3, 4)]
    assert advised(gold) == [("entries", "", None)]
    assert "94% of the gold values are in lists: /lines (50%) and /votes (44%)." in checked(gold).advice[0].message


def test_a_constant_field_is_found_from_ten_values_on():
    gold = [{"language": "en", "title": title} for title in NAMES]
    assert advised(gold[:10]) == [("constant", "/language", None)]
    assert advised(gold[:9]) == []
    assert advised([*gold, {"title": "x"}]) == []
    assert advised([*gold, {"title": "x", "language": "fr"}]) == []
    assert advised(gold, overlay={"/language": {"weight": 0.1}}) == []
    fixed = {"type": "object", "properties": {"language": {"const": "en"}, "title": {"type": "string"}}}
    assert advised(gold, fixed) == []
    assert [one[0] for one in advised([{"done": False, "title": title} for title in NAMES])] == ["constant"]


def test_a_declared_field_that_never_occurs_is_found_without_those_inside_it():
    inner = {"type": "object", "properties": {"street": {"type": "string"}, "town": {"type": "string"}}}
    schema = {"type": "object", "properties": {"title": {"type": "string"}, "address": inner}}
    gold = holding(NAMES, "title")
    assert advised(gold[:10], schema) == [("unused", "/address", None)]
    assert advised(gold[:9], schema) == []
    assert advised([*gold, {"title": "x", "address": {"street": "y"}}], schema) == []
    names = {name: {"type": "string"} for name in "abcdefg"}
    several = {"type": "object", "properties": names | {"title": {"type": "string"}}}
    (found,) = checked(gold, several).advice
    assert (found.path, found.evidence["paths"]) == ("", [f"/{name}" for name in names])
    assert '7 fields that never occur in gold, such as "a", "b" and "c" (15 objects). Add gold' in found.message
    advice = checked(gold, schema, predicted=[{"address": {"street": "x"}}]).advice
    assert "predictions have it 1 time, which is always wrong" in advice[0].message


# What the settings do.


def everything():
    """Gold and predictions with a reason for every kind of advice, with and without settings."""
    gold = [
        {
            "rows": [
                {name.replace(" ", "_"): texts[0][number % len(texts[0])] for name, texts in NOTATIONS.items()}
                | {
                    "language": "en",
                    "place": "" if number % 3 else NAMES[number],
                    "tags": ["null"] if number % 2 else ["x"],
                }
                for number in range(12)
            ],
            "ids": {f"p{number}{at}": {"age": at} for at in range(3)},
            "title": NAMES[number],
        }
        for number in range(4)
    ]
    return gold, [{"rows": [{"Language": "en", "place": "n/a"}] * 3}] * 3


def test_the_settings_compile_and_gold_is_still_equal_to_itself():
    gold, predicted = everything()
    schema = infer(gold)
    check = arbitre.check_schema(schema, gold=gold, predicted=predicted)
    kinds = {one.kind for one in check.advice}
    assert kinds == KINDS.keys() - {"references", "unused"}
    comparator = arbitre.Comparator(schema, overlay=check.overlay)
    evaluation = comparator.evaluate([(str(number), one, one) for number, one in enumerate(gold)])
    assert (evaluation.micro.f1q, evaluation.macro.f1q, evaluation.document_quality.mean) == (1.0, 1.0, 1.0)
    again = arbitre.check_schema(schema, gold=gold, predicted=predicted, overlay=check.overlay).advice
    assert {one.kind for one in again if one.change} == set()


def test_an_annotated_schema_compares_as_with_the_overlay():
    gold, _ = everything()
    gold.append({"rows": "none", "title": None})  # a union
    inferred, plain = arbitre.infer_schema(gold, apply=True), arbitre.infer_schema(gold)
    assert inferred.advice == plain.advice
    assert inferred.schema == annotate(plain.schema, plain.overlay)
    assert plain.schema == infer(gold)
    laid = arbitre.Comparator(plain.schema, overlay=plain.overlay)
    assert arbitre.Comparator(inferred.schema).signature == laid.signature


def test_apply_writes_an_overlay_with_the_settings_of_the_given_one(tmp_path):
    (tmp_path / "names.csv").write_text("name,variants\nLyon,Lugdunum\n", encoding="utf-8")
    place = {"normalize": ["casefold", {"authority": {"file": "names.csv"}}]}
    (tmp_path / "old.json").write_text(json_text({"/place": place, "/x": {"weight": 2}}), encoding="utf-8")
    gold = [{"x": text, "place": "Lugdunum"} for text in ISO]
    schema, out = infer(gold), tmp_path / "new" / "overlay.json"
    check = checked(gold, schema, overlay=tmp_path / "old.json", apply=True, out=out)
    assert check.overlay["/x"] == {"weight": 2, "distance": "date"}
    assert [row.distance for row in check.comparator.explain() if row.path == "/x"] == ["date(scale=365)"]
    written = arbitre.Comparator(schema, overlay=out)
    assert written.signature == check.comparator.signature
    assert written.compare(gold={"place": "Lyon"}, predicted={"place": "Lugdunum"}).quality == 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"predicted": []}, "`predicted` requires `gold`"),
        ({"apply": True}, "`apply` requires `gold`"),
        ({"gold": [{}], "out": "overlay.json"}, "`out` requires `apply`"),
    ],
)
def test_options_of_the_advice_require_each_other(options, message):
    with pytest.raises(OptionError, match=message):
        arbitre.check_schema({"type": "object"}, **options)
    with pytest.raises(OptionError, match="`apply` requires a schema"):
        arbitre.check_schema(arbitre.Comparator({"type": "object"}), gold=[{}], apply=True)


def test_paths_of_tuples_and_maps_can_be_advised_on():
    item = {"type": "string"}
    schema = {"type": "object", "properties": {"pair": {"type": "array", "prefixItems": [item, item]}}}
    gold = [{"pair": [day, name]} for day, name in zip(ISO, NAMES, strict=False)]
    assert checked(gold, schema, apply=True).overlay == {"/pair/0": DATE}
    schema = {"type": "object", "additionalProperties": item}
    assert checked([dict(zip(NAMES, ISO, strict=False))], schema, apply=True).overlay == {"/*": DATE}
    patterns = {"type": "object", "patternProperties": {"^P": item, "^a": {"type": "integer"}}}
    assert advised([dict(zip(NAMES, ISO, strict=False))], patterns) == []


def test_a_recursive_schema_is_advised_on_once():
    node = {"properties": {"born": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#"}}}}
    tree = [{"born": day, "children": [{"born": day, "children": []}]} for day in ISO]
    assert checked(tree, {"type": "object"} | node, apply=True).overlay["/born"] == DATE


def test_a_schema_that_is_too_large_is_inferred_without_advice(monkeypatch):
    gold = [{str(number): {"a": 1} for number in range(10)}]
    assert [one.kind for one in arbitre.infer_schema(gold).advice] == ["id-keys"]
    monkeypatch.setattr(compiler, "MAX_POSITIONS", 20)
    inferred = arbitre.infer_schema(gold)
    assert inferred.advice == ()
    assert inferred.notes == ("No advice on the schema: Expected a schema of at most 20 positions, got more",)
