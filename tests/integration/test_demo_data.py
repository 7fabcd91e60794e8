"""The demo corpus contains the faults that the tutorial describes, in the documents it names."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from arbitre import bundled

PAGES = ["page_01", "page_02", "page_03", "page_04", "page_05", "page_06"]


def records(name):
    text = (bundled.demo() / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def speakers(name, page):
    return next(record["speakers"] for record in records(name) if record["id"] == page)


def names(name, page):
    return [speaker["name"] for speaker in speakers(name, page)]


def value_at(name, page, index, path):
    value = speakers(name, page)[index]
    for part in path.split("/"):
        value = value[int(part) if isinstance(value, list) else part]
    return value


def pages(speaker):
    return [intervention["pages"] for intervention in speaker["interventions"]]


def cited(speaker):
    return {int(page) for listed in pages(speaker) for page in listed}


def violations(record):
    """Where a record breaks the schema; its id is no part of the compared value."""
    validator = Draft202012Validator(bundled.schema("examples/speakers.schema.json"))
    value = {key: part for key, part in record.items() if key != "id"}
    return sorted("/" + "/".join(map(str, error.absolute_path)) for error in validator.iter_errors(value))


def test_schema_is_valid_and_marks_its_entries():
    schema = bundled.schema("examples/speakers.schema.json")
    Draft202012Validator.check_schema(schema)
    assert schema["properties"]["speakers"]["x-arbitre"] == {"entries": True}


@pytest.mark.parametrize(
    ("name", "entries"),
    [
        ("gold", {"page_01": 10, "page_02": 10, "page_03": 9, "page_04": 11, "page_05": 8, "page_06": 10}),
        ("careful", {"page_01": 10, "page_02": 10, "page_03": 9, "page_04": 11, "page_05": 7, "page_06": 10}),
        ("hasty", {"page_01": 8, "page_02": 9, "page_03": 8, "page_05": 7, "page_06": 10}),
    ],
)
def test_each_page_has_its_number_of_entries(name, entries):
    found = records(name)
    assert [record["id"] for record in found] == list(entries)
    assert {record["id"]: len(record["speakers"]) for record in found} == entries
    assert all(next(iter(record)) == "id" for record in found)


def test_files_are_small_and_written_without_escapes():
    texts = [(bundled.demo() / f"{name}.jsonl").read_bytes() for name in ("gold", "careful", "hasty")]
    assert sum(map(len, texts)) < 60_000
    assert not any(b"\\u" in text for text in texts)
    assert all(text.endswith(b"}\n") for text in texts)
    assert "Brézoles, Émile".encode() in texts[0]


def test_gold_follows_the_schema():
    assert [violations(record) for record in records("gold")] == [[]] * 6
    dates = [speaker.get("elected", "no key") for page in PAGES for speaker in speakers("gold", page)]
    assert len(dates) == 58
    assert (dates.count("no key"), dates.count(None)) == (4, 5)
    assert sorted(date for date in dates if date and date != "no key" and len(date) < 10) == [
        "1918", "1918", "1921", "1921-06", "1924", "1924-03",
    ]  # fmt: skip


def test_the_predictions_have_known_violations():
    careful = {record["id"]: violations(record) for record in records("careful")}
    assert {page: len(found) for page, found in careful.items() if found} == {"page_03": 32}
    hasty = {record["id"]: violations(record) for record in records("hasty")}
    assert {page: found for page, found in hasty.items() if found} == {
        "page_05": [f"/speakers/{index}/elected" for index in (0, 1, 3, 5, 6)],
        "page_06": ["/speakers/5/interventions"],
    }


def test_careful_omits_one_entry():
    gold = names("gold", "page_05")
    assert gold[2] == "Oakenshaw, John"
    assert len(names("careful", "page_05")) == len(gold) - 1
    assert "Oakenshaw, John" not in names("careful", "page_05")


def test_careful_writes_the_numbers_of_one_page_as_text():
    gold, careful = speakers("gold", "page_03"), speakers("careful", "page_03")
    assert records("careful")[2]["page"] == {"volume": "1927", "printed_page": "403"}
    assert pages(careful[0]) == [["127", "128"], ["136", "137", "138"]]
    assert [[list(map(int, cited)) for cited in pages(speaker)] for speaker in careful] == [
        pages(speaker) for speaker in gold
    ]


def test_careful_drops_single_page_numbers():
    gold = {speaker["name"]: speaker for page in PAGES for speaker in speakers("gold", page)}
    careful = {speaker["name"]: speaker for page in PAGES for speaker in speakers("careful", page)}
    lost = {name: cited(gold[name]) - cited(careful[name]) for name in gold.keys() & careful.keys()}
    assert {name: missing for name, missing in lost.items() if missing} == {
        "Alcotte, Benoît": {58},
        "Amberley, George": {5},
        "Cormeray, Jules": {302},
        "Montfaulx, Béatrice": {291},
        "Quesnard, Aurélien": {133},
        "Sorel-Hautin, Édouard": {321},
    }


@pytest.mark.parametrize(
    ("page", "at", "path", "gold", "careful"),
    [
        ("page_01", (0, 0), "name", "Abbercombe, Ruth", "Abbercornbe, Ruth"),
        ("page_01", (9, 9), "name", "Brézoles, Émile", "Brezoles, Émile"),
        ("page_02", (1, 1), "name", "Castelnoir, Agnès", "Castelnoir, Agnés"),
        ("page_02", (9, 9), "name", "Estlake, Winifred", "Est1ake, Winifred"),
        ("page_03", (1, 1), "name", "Farnworth, Daniel", "Famworth, Daniel"),
        ("page_04", (4, 4), "name", "Lorimond, Achille", "Lorimond,  Achille"),
        ("page_04", (10, 10), "name", "Mossgrave, Ellen", "Mossgrave, E1len"),
        ("page_05", (3, 2), "name", "Pellerin-Daux, René", "Pellerin-Daux, Rene"),
        ("page_06", (6, 6), "name", "Valmorin, Cécile", "Va1morin, Cécile"),
        ("page_02", (3, 2), "elected", "1921-06", "1921"),
        ("page_04", (8, 8), "elected", "1924-03-16", "1924-03-18"),
        ("page_04", (0, 0), "interventions/0/kind", "report", "speech"),
        (
            "page_01",
            (8, 8),
            "interventions/1/subject",
            "Shearing season and school holidays",
            "Shearing season and school hohdays",
        ),
    ],
)
def test_careful_misreads_known_values(page, at, path, gold, careful):
    assert value_at("gold", page, at[0], path) == gold
    assert value_at("careful", page, at[1], path) == careful


@pytest.mark.parametrize(
    ("page", "at", "path", "gold", "hasty"),
    [
        ("page_01", (0, 0), "name", "Abbercombe, Ruth", "Abbercornbe, Ruth"),
        ("page_01", (1, 1), "name", "Alcotte, Benoît", "A1cotte, Benoit"),
        ("page_01", (6, 4), "name", "Aubrelle, Étienne", "Aubrel1e, Etienne"),
        ("page_01", (8, 6), "name", "Bellwether, Thomas", "Bellweather, Thomas"),
        ("page_01", (9, 7), "name", "Brézoles, Émile", "Brezoies, Emile"),
        ("page_02", (1, 5), "name", "Castelnoir, Agnès", "Casteinoir, Agnes"),
        ("page_02", (5, 0), "name", "Cormeray, Jules", "Corrneray, Jules"),
        ("page_02", (7, 1), "name", "Delaumont, Hélène", "Delaumont, Helene"),
        ("page_02", (8, 2), "name", "Drumlarig, Alasdair", "Drumlarig, A."),
        ("page_03", (0, 0), "name", "Falconnet, Irénée", "Falconnet, Irenee"),
        ("page_03", (2, 2), "name", "Fontarelle, Mathilde", "Fontarelie, Mathiide"),
        ("page_03", (8, 7), "name", "Holmwick, Sarah", "Ho1mwick, Sarah"),
        ("page_05", (0, 0), "name", "Netherby, Charles", "Nethersby, Charles"),
        ("page_05", (5, 4), "name", "Quesnard, Aurélien", "Quesnard, Aurelien"),
        ("page_05", (7, 6), "name", "Rocheclaire, Armand", "Roche-Claire, Armand"),
        ("page_06", (0, 0), "name", "Saint-Elme, Françoise", "SAINT-ELME, Francoise"),
        ("page_06", (1, 2), "name", "Saltmarsh, Ivo", "SALTMARSH, Ivo"),
        ("page_01", (1, 1), "role", "minister", "senator"),
        ("page_01", (2, 2), "elected", "1918-11-03", "1918"),
        ("page_03", (3, 3), "elected", "1921-06-05", "1924-03-16"),
        ("page_01", (3, 3), "interventions/1/kind", "motion", "speech"),
        ("page_06", (6, 3), "interventions/0/kind", "motion", "question"),
        ("page_02", (4, 8), "interventions/1/subject", "Votes for women in parish councils", "Votes for women"),
        ("page_03", (0, 0), "interventions/1/subject", "Weirs of the Orvanne", "Weirs"),
        ("page_05", (2, 1), "interventions/1/subject", "Weights and measures at fairs", "Weights and measures"),
        ("page_01", (1, 1), "interventions/0/pages", [42, 43, 57, 58], [42, 57]),
        ("page_05", (5, 4), "interventions/2/pages", [156, 157, 165], [156, 157]),
        ("page_06", (2, 4), "interventions/0/pages", [320, 321, 322], [320]),
        ("page_06", (5, 1), "interventions/0/pages", [275, 276, 277], [275, 277]),
    ],
)
def test_hasty_misreads_known_values(page, at, path, gold, hasty):
    assert value_at("gold", page, at[0], path) == gold
    assert value_at("hasty", page, at[1], path) == hasty


@pytest.mark.parametrize(
    ("page", "at", "gold", "hasty"),
    [("page_01", (0, 0), 3, 2), ("page_01", (7, 5), 2, 1), ("page_02", (5, 0), 5, 3), ("page_03", (6, 5), 4, 3)],
)
def test_hasty_omits_interventions(page, at, gold, hasty):
    assert len(speakers("gold", page)[at[0]]["interventions"]) == gold
    assert len(speakers("hasty", page)[at[1]]["interventions"]) == hasty


@pytest.mark.parametrize(
    ("page", "gold", "careful"),
    [
        ("page_02", {"Chantorel, Luc": 2, "Chantorel, Lucien": 3}, {"Chantorel, Luc": 3, "Chantorel, Lucien": 2}),
        ("page_04", {"Maillefaud, Henri": 5}, {"Maillefaud, Henri": 6}),
        ("page_06", {"Vaudreine, Ambroise": 7}, {"Vaudreine, Ambroise": 8}),
    ],
)
def test_careful_changes_the_order_of_neighbours(page, gold, careful):
    assert {name: names("gold", page).index(name) for name in gold} == gold
    assert {name: names("careful", page).index(name) for name in careful} == careful


def test_hasty_has_no_prediction_for_one_page():
    assert [page for page in PAGES if page not in {record["id"] for record in records("hasty")}] == ["page_04"]


@pytest.mark.parametrize(
    ("page", "index", "surname"),
    [
        ("page_01", 4, "Arnoult-Bray"),
        ("page_01", 5, "Ashdown"),
        ("page_02", 6, "Dancastle"),
        ("page_05", 1, "Noirmont"),
        ("page_06", 7, "Vaudreine"),
    ],
)
def test_hasty_omits_entries(page, index, surname):
    assert names("gold", page)[index].startswith(surname)
    assert not [name for name in names("hasty", page) if name.casefold().startswith(surname.casefold())]


def test_hasty_merges_two_of_one_surname():
    first, second = speakers("gold", "page_03")[4:6]
    assert (first["name"], second["name"]) == ("Gaultrier, Maxime", "Gaultrier, Noëlle")
    merged = speakers("hasty", "page_03")[4]
    assert merged == {**first, "interventions": first["interventions"] + second["interventions"]}
    assert "Gaultrier, Noëlle" not in names("hasty", "page_03")


def test_hasty_exchanges_the_pages_of_neighbours():
    gold, hasty = speakers("gold", "page_02")[2:4], speakers("hasty", "page_02")[6:8]
    assert [speaker["name"] for speaker in gold] == ["Chantorel, Luc", "Chantorel, Lucien"]
    assert [speaker["name"] for speaker in hasty] == ["Chantorel, Luc", "Chantorel, Lucien"]
    assert [pages(speaker) for speaker in gold] == [[[180], [184]], [[47, 48], [62]]]
    assert [pages(speaker) for speaker in hasty] == [[[47, 48], [62]], [[180], [184]]]


def test_hasty_moves_an_intervention_to_the_next_entry():
    moved = {"subject": "Customs posts in winter", "kind": "motion", "pages": [119]}
    gold, hasty = speakers("gold", "page_05"), speakers("hasty", "page_05")
    assert (gold[3]["name"], gold[4]["name"]) == ("Pellerin-Daux, René", "Penhallick, Grace")
    assert (hasty[2]["name"], hasty[3]["name"]) == ("Pellerin-Daux, René", "Penhallick, Grace")
    assert moved == gold[3]["interventions"][1] == hasty[3]["interventions"][0]
    assert moved not in gold[4]["interventions"]
    assert moved not in hasty[2]["interventions"]


def test_hasty_writes_the_dates_of_one_page_day_first():
    gold = [speaker["elected"] for speaker in speakers("gold", "page_05")]
    hasty = [speaker["elected"] for speaker in speakers("hasty", "page_05")]
    assert gold == ["1918-11-03", "1924-03-16", "1921-06-05", "1921", "1925-10-11", None, "1924-03-16", "1918-11-03"]
    assert hasty == ["03/11/1918", "05/06/1921", "1921", "11/10/1925", None, "16/03/1924", "03/11/1918"]


def test_hasty_invents_one_entry_and_leaves_one_list_null():
    hasty = speakers("hasty", "page_06")
    assert hasty[7]["name"] == "WESTONBIRT, Harold"
    assert not [name for page in PAGES for name in names("gold", page) if name.casefold().startswith("westonbirt")]
    assert hasty[5]["name"] == "WETHERELL, Francis"
    assert hasty[5]["interventions"] is None
    assert pages(speakers("gold", "page_06")[8]) == [[245, 246], [249]]


def test_hasty_reads_columns_in_another_order():
    assert [name[:5] for name in names("gold", "page_02")] == [
        "Carro", "Caste", "Chant", "Chant", "Clave", "Corme", "Danca", "Delau", "Druml", "Estla",
    ]  # fmt: skip
    assert [name[:5] for name in names("hasty", "page_02")] == [
        "Corrn", "Delau", "Druml", "Estla", "Carro", "Caste", "Chant", "Chant", "Clave",
    ]  # fmt: skip
