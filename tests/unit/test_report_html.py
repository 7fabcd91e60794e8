"""The report page shows the numbers of the evaluation, loads nothing external, and escapes data."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from itertools import combinations
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from tests.browser.hostile import TEXTS
from tests.browser.hostile import view as hostile
from tests.unit.test_report_view import PAIRS, PEOPLE, SCHEMA, filled, made_factor, observed
from tests.unit.test_worst_documents import WORDS
from tests.unit.test_worst_documents import document as worst_document

import arbitre
from arbitre import bundled
from arbitre.errors import clipped, show_hidden
from arbitre.inputs.join import close_ids, missing_runs, repeated_gold, swapped_names
from arbitre.inputs.provenance import Correction, DisagreementCounts, GoldProvenance, MeasuredAgreement, Provenance
from arbitre.language import Language, Translator, catalogue
from arbitre.report.build_view import build_subject
from arbitre.report.document_tree import LITERAL, shown, spelled
from arbitre.report.render import VERDICT_GLYPHS as GLYPHS
from arbitre.report.render import _brief, render_page
from arbitre.report.report_files import view_of
from arbitre.report.standalone import embedded
from arbitre.report.view import PairwiseTest
from arbitre.statistics.paired_tests import paired_difference
from arbitre.systems.ranking import rank as ranking

pytestmark = pytest.mark.slow

BOTH = pytest.mark.parametrize("language", list(Language))


class Read(HTMLParser):
    """What a page is made of."""

    VOID = frozenset({"meta", "input", "br", "wbr", "link", "img", "rect", "path", "hr"})

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.numbers, self.scripts, self.text = [], [], {}, [], []
        self.open = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]
        given = dict(attrs)
        if tag == "data" and "data-at" in given:
            self.numbers.setdefault(given["data-at"], set()).add(given["value"])
        self.open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        else:
            self.text.append(data)

    @property
    def seen(self):
        return re.sub(r"\s+", " ", "".join(self.text))

    @property
    def data(self):
        return json.loads(self.scripts[0])


def made(language=Language.EN, **options):
    return render_page(view_of([build_subject(*observed(PEOPLE, PAIRS), **options)]), language)


def tokens(value, pointer=""):
    """Every number of a JSON text by its pointer, as it is written there."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from tokens(inner, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from tokens(inner, f"{pointer}/{place}")
    elif isinstance(value, str):
        yield pointer, value


@BOTH
def test_the_page_holds_the_exact_numbers_of_evaluation_json(language):
    evaluation, alignments = observed(PEOPLE, PAIRS)
    text = json.dumps(evaluation)
    written = dict(tokens(json.loads(text, parse_float=str, parse_int=str)))
    numbers = Read(render_page(view_of([build_subject(evaluation, alignments)]), language)).numbers
    assert numbers == {pointer: {written[pointer]} for pointer in numbers}
    wanted = {f"/{kind}/{name}" for kind in ("micro", "macro") for name in ("f1q", "imq", "irq", "amq", "precision")}
    assert wanted <= numbers.keys()
    assert len(numbers) > 50


def test_the_pointers_of_keys_with_invisible_characters_are_exact():
    schema = {"type": "array", "items": {"type": "object", "properties": {"a\nb\u202e": {"type": "string"}}}}
    entries = [{"a\nb\u202e": "x"}]
    evaluation, alignments = observed(schema, [("d", entries, entries)])
    page = render_page(view_of([build_subject(evaluation, alignments)]))
    numbers = Read(page).numbers
    assert "/by_path/~1*~1a\nb\u202e/gold" in numbers
    assert "\u202e" not in page
    written = dict(tokens(json.loads(json.dumps(evaluation), parse_float=str, parse_int=str)))
    assert numbers == {pointer: {written[pointer]} for pointer in numbers}


def test_shown_numbers_are_rounded():
    found = re.findall(r'<data value="([\d.]+)"[^>]*>([\d.]+)</data>', made())
    assert len(found) > 60
    for value, text in found:
        digits = len(text.partition(".")[2])
        assert abs(float(value) - float(text)) <= 0.5 * 10**-digits + 1e-12


def test_the_result_is_stated_in_words():
    seen = Read(made()).seen
    assert "Entries: 4 in gold, 4 predicted, 3 matched. Pairs: 2 exact, 0 close " in seen
    assert "Unmatched: 1 in gold (missing), 1 in the prediction (spurious)." in seen
    assert "3 documents. 1 of them failed and counts as an empty prediction." in seen
    assert "biased" in seen
    french = Read(made(Language.FR)).seen
    assert "4 dans la référence, 4 prédites, 3 appariées." in french
    assert "biaisé" in french


def test_negative_numbers_that_people_read_have_a_minus_sign():
    numbers = re.findall(r'<data value="(-[^"]*)"[^>]*>([^<]*)', render_page(filled()))
    assert ("-0.25", "\N{MINUS SIGN}0.2500") in numbers
    assert all(text.startswith("\N{MINUS SIGN}") for _, text in numbers)


def test_per_document_means_and_pooled_scores_are_told_apart():
    seen = Read(made()).seen
    assert re.search(r"0\.49\s*graded F1 \(f1q\)\s*per-document mean", seen)
    assert "Per-document means with partial credit: recall 60.1% (irq), precision 43.5% (imq)" in seen
    english, french = (Read(render_page(filled(), language)).seen for language in Language)
    assert re.search(
        r"Per-document means \(macro\): f1q = 0\.4901 \(95% confidence interval: 0\.4000 to 0\.6000\), imq .* = 0\.4345, .*"
        r"Pooled \(micro\) scores: f1q = 0\.6518, imq = 0\.6518",
        english,
    )
    assert "f1q = 0,4901 (intervalle de confiance à 95 % : de 0,4000 à 0,6000)" in french.replace("\u00a0", " ")
    single = Read(render_page(view_of([build_subject(*observed(PEOPLE, PAIRS[:1]))]))).seen
    assert "With partial credit, recall is 80.4% (irq)" in single
    assert "er-document mean" not in single.partition("Caveats")[0].partition("graded F1")[2]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (Language.EN, r"Chance score, pooled\s*f1q 0\.10 \(standard error 0\.01\d\)"),
        (Language.FR, r"hasard\s*f1q 0,10 \(erreur type 0,01\d\)"),
    ],
    ids=["en", "fr"],
)
def test_the_standard_error_of_the_chance_score_is_shown(language, text):
    assert re.search(text, Read(render_page(filled(), language)).seen)


def test_optional_sections_are_shown():
    evaluation, alignments = observed(PEOPLE, PAIRS)
    plain = Read(render_page(view_of([build_subject(evaluation, alignments)]))).seen
    for said in (
        "Confidence intervals were not computed",
        "The chance score was not computed",
        "The gold itself was not checked",
    ):
        assert said in plain
    seen = Read(render_page(filled())).seen
    assert "[0.4000, 0.6000]" in seen
    gold = "2 annotators (a, b), alpha_d 0.930 on 9 documents; single annotator, provenance unknown"
    assert f"Gold: {gold}" in seen
    french = "2 annotateurs (a, b), alpha_d = 0,930 sur 9 documents ; un seul annotateur, provenance inconnue"
    assert f"Référence : {french}" in Read(render_page(filled(), Language.FR)).seen
    assert "Published formulas" in seen
    assert re.search(r"Per-document mean \(macro\) ?published ?imq ?0\.\d{4} ?0\.9000", seen)
    assert "careful − hasty" in seen
    assert "No significant difference is shown between systems of the same group." not in seen  # two are named above
    assert "Confidence intervals were not computed" not in seen


def test_factors_are_shown():
    seen = Read(render_page(filled())).seen
    for said in (
        "Levels by per-document mean (macro) of f1q",
        "(empty)10.2500not computed",
        "good20.5000[0.4000, 0.6000]",
        "Unbalanced: the levels do not have the same documents",
        "Fewer than 10 documents (2): the interval is probably too narrow.",
        "(empty) − good",
        "f1q by path, pooled (micro)",
    ):
        assert said in seen
    french = render_page(filled(), Language.FR)
    assert "Moins de 10 documents (2)\u00a0: l’intervalle est sans doute trop étroit." in french
    assert "Non équilibré" in french
    assert '<a href="#factors">Facteurs</a>' in french
    assert 'id="factors"' not in made()


def test_levels_without_shared_documents_are_not_compared():
    apart = PairwiseTest("", "good", *[None] * 6, 0)
    one = replace(made_factor(), tests=[apart, apart])
    said = "No two levels share a document, so they are not compared."
    seen = Read(render_page(replace(filled(), systems=None, factors=[one]))).seen
    assert said in seen
    assert "(empty) − good" not in seen
    assert said not in Read(render_page(filled())).seen


def provenance_parts():
    """Every part of the headline of gold that has a French text."""
    one, several = Provenance(("ada",)), ("ada", "bob")
    yield from GoldProvenance((("a", one), ("b", Provenance(several))), 1).parts()
    yield from GoldProvenance((*(("a", one),) * 4, ("b", Provenance(several))), 2).parts()
    for number, strategy in enumerate(("minimum-risk", "majority", "unanimity", "collegial", "dawid-skene")):
        value = 0.5 if number % 2 else None
        counts = DisagreementCounts(3, 1, 2)
        yield Provenance(several, strategy, MeasuredAgreement("alpha_d", value, 1 + number // 2), 1, counts).parts()
    yield ("single annotator, provenance unknown, 2 values corrected (ada)",)
    for values in (1, 2):
        yield Provenance((), corrections=(Correction("d.csv", 64 * "0", None, {"ada": values}, values, 1),)).parts()


def notes():
    """Every note on statistics, on how documents were joined and on gold, from data that give it."""
    yield from itertools.chain.from_iterable(provenance_parts())
    yield from filter(None, (close_ids(["Page.1"], ["page.1"]), close_ids(["Ab", "Cd"], ["ab.json", "cd.json"])))
    yield from filter(None, (repeated_gold(count, 0, 1) for count in (1, 2)))
    yield from filter(None, (missing_runs(Counter({2: 7, 1: count})) for count in (1, 3)))
    swapped = swapped_names(["predictions.1.jsonl"], ["gold.jsonl"], "exchange --gold and --predicted")
    yield from filter(None, [swapped])
    comparator = arbitre.Comparator({"type": "array", "items": {"type": "string"}})
    for sizes in ([1], [1, 2], [*[0] * 12, 1], [*[0] * 12, 1, 1], [*[4] * 49, 0]):
        one = comparator.evaluate((f"{at:02}", list("abcd"), list("abcd")[:size]) for at, size in enumerate(sizes))
        settings = itertools.product(
            ("irq", "amq"), (0.95, 1 - 1e-10), (None, r"\d\d"), ("clopper-pearson", "t", "bca"), ("macro", "micro")
        )
        for score, level, cluster, method, aggregate in settings:
            yield from one.interval(score, level=level, cluster=cluster, method=method, aggregate=aggregate).notes
        for score in ("f1q", "amq"):
            yield from ranking({"a": one, "b": one}, score).notes
        for cluster in (None, r"\d"):
            yield from paired_difference(*[one.sample(cluster=cluster)] * 2, "irq").notes
        yield from ranking({"a": one, "b": one, "c": one}).notes


def test_every_note_has_a_french_text_and_no_text_is_unused():
    found = {text: Translator(Language.FR).sentence(text) for text in notes()}
    assert [text for text, french in found.items() if text == french] == []
    assert all(Translator(Language.EN).sentence(text) == text for text in found)
    patterns = [texts["fr"].partition("{")[0] for name, texts in catalogue().items() if name.startswith("note.")]
    assert [one for one in patterns if not any(french.startswith(one) for french in found.values())] == []
    assert Translator(Language.FR).sentence(
        "No p can be below 0.25 here: more documents are needed to show a difference."
    ) == ("Aucun p ne peut être inférieur à 0,25 ici\u00a0: il faut plus de documents pour établir une différence.")
    assert Translator(Language.FR).sentence("Something else.") == "Something else."


def test_a_page_without_alignments_says_so():
    seen = Read(render_page(view_of([build_subject(observed(PEOPLE, PAIRS)[0])]))).seen
    assert "The documents are not stored next to this evaluation." in seen


@pytest.mark.parametrize("pairs", [[], [("a", {}, {})]], ids=["nothing", "vacuous"])
def test_a_page_without_entries_says_so(pairs):
    assert (
        "Neither gold nor the prediction has any entries"
        in Read(render_page(view_of([build_subject(*observed(PEOPLE, pairs))]))).seen
    )


def test_the_same_view_gives_the_same_bytes():
    assert made() == made()
    assert render_page(filled()) == render_page(filled())
    assert made() != made(Language.FR)


@pytest.mark.parametrize("view", [filled, hostile], ids=["filled", "hostile"])
def test_the_content_policy_blocks_external_resources(view):
    text = render_page(view())
    read = Read(text)
    policy = next(value for tag, name, value in read.attributes if name == "content" and "default-src" in value)
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)[1]
    for kind, content in (("script", read.scripts[1]), ("style", style)):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert len(read.scripts) == 2
    assert [name for _, name, _ in read.attributes if name.startswith("on") or name in {"style", "src", "action"}] == []
    assert {value[0] for _, name, value in read.attributes if name == "href"} == {"#"}
    assert not {"img", "iframe", "link", "object", "form", "base"} & set(read.tags)
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/)", style + read.scripts[1])


def test_data_is_never_read_as_markup():
    view = hostile()
    text = render_page(view)
    assert text.encode("utf-8")  # no half of a surrogate pair is left
    read = Read(text)
    document = next(one for one in read.data["subjects"][0]["documents"] if not one["failed"])
    assert document["rows"][0]["entry"]["verdict"] == "wrong"
    names = {row["entry"].get("predicted", {}).get("name") for row in document["rows"]}
    names |= {
        field.get("predicted", field.get("gold"))
        for row in document["rows"]
        for field in row["entry"].get("below", ())
        if field["name"] == "name"
    }
    assert set(TEXTS) <= names
    assert "1337" not in read.seen
    assert show_hidden(TEXTS[1]) in read.seen  # the title, and the reason of the failure
    for sign in "\u202e\u2066\u200b\x07\x1b\x00":
        assert sign not in text


def test_the_hostile_view_follows_the_schema():
    plain = json.loads(json.dumps(hostile().to_dict()))
    assert [error.message for error in Draft202012Validator(SCHEMA).iter_errors(plain)] == []


def test_embedded_json_survives_a_round_trip():
    value = {"a": ["</script>", "<!--", "\u2028", "é", "\ud800", 1.5]}
    text = embedded(value)
    assert json.loads(text) == value
    assert not set("<>&\u2028\ud800") & set(text)
    assert "é" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Zoé", "Zoé"),
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("\ud800", "⟨U+D800⟩"),
        ("a\nb\t", "a⟨U+000A⟩b⟨U+0009⟩"),
        ("אב", "אב"),
    ],
)
def test_invisible_characters_are_shown_escaped(text, expected):
    assert show_hidden(text) == expected


def test_long_texts_are_clipped_with_an_ellipsis():
    assert (clipped("abc", 3), clipped("abcd", 3)) == ("abc", "ab…")


def test_every_string_has_both_languages_and_the_same_fields():
    for name, texts in catalogue().items():
        assert set(texts) == {"en", "fr"}, name
        assert all(text.strip() for text in texts.values()), name
        fields = [set(re.findall(r"{(\w+)}", text)) for text in texts.values()]
        assert fields[0] == fields[1], name


def test_every_string_is_used_and_every_used_string_exists():
    folder = Path(str(files("arbitre.report")))
    sources = "".join(
        file.read_text(encoding="utf-8")
        for file in sorted(folder.rglob("*.*"))
        if file.name.endswith((".py", ".j2", ".js"))
    )
    for name in (one for one in catalogue() if not one.startswith(("note.", "table.", "word.", "between."))):
        stem = name.removesuffix(".one")
        prefix = stem.rpartition(".")[0]
        made = rf"{re.escape(prefix)}\.(' ~|\{{|\$\{{)" if prefix else r"^$"
        quoted = any(f"{quote}{stem}{quote}" in sources for quote in "\"'`")
        assert quoted or re.search(made, sources), name
    asked = re.findall(r"\bt\('([\w. ]+)'[,)]", sources) + re.findall(r"say\(\"([\w. ]+)\"", sources)
    assert set(asked) - catalogue().keys() == set()
    for verdict in GLYPHS:
        assert f"verdict.{verdict}" in catalogue()


@pytest.mark.parametrize(
    ("share", "english", "french"),
    [(None, "–", "–"), (0.0, "0.0%", "0,0\u00a0%"), (1.0, "100.0%", "100,0\u00a0%"), (0.9999, "99.9%", "99,9\u00a0%"),
     (0.0001, "0.1%", "0,1\u00a0%")],
)  # fmt: skip
def test_shares_never_round_to_all_or_nothing(share, english, french):
    assert [Translator(language).percent(share) for language in (Language.EN, Language.FR)] == [english, french]


SENATE = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "senat-1931"


@pytest.mark.slow
@pytest.mark.skipif(not SENATE.is_dir(), reason="the shared data are not here")
def test_the_nine_runs_of_the_senate_make_a_small_page_with_every_entry():
    runs = sorted(SENATE.joinpath("predicted").glob("*.json"))
    pairs = [
        (
            run.stem,
            *(json.loads(file.read_text(encoding="utf-8")) for file in (SENATE / "gold" / f"{run.stem[:7]}.json", run)),
        )
        for run in runs
    ]
    evaluation, alignments = observed(bundled.schema("examples/senat-published.schema.json"), pairs)
    text = render_page(view_of([build_subject(evaluation, alignments)]))
    assert len(text.encode()) < 1_000_000
    read = Read(text)
    assert "Entries: 201 in gold, 198 predicted, 198 matched." in read.seen
    documents = read.data["subjects"][0]["documents"]
    assert len(documents) == 9
    assert sum(row["gold_index"] is not None for one in documents for row in one["rows"]) == 201
    assert all(one["matrix"] is not None for one in documents)
    written = dict(tokens(json.loads(json.dumps(evaluation), parse_float=str, parse_int=str)))
    assert read.numbers == {pointer: {written[pointer]} for pointer in read.numbers}


NESTED = [[[[[[[[[[[[[["end"]]]]]]]]]]]]]]
SHOWN = [403, "403", '"403"', 1.5, "1.5", True, "true", None, "null", 2**60, str(2**60), [1], "[1]", {}, "{}", "Ada",
          NESTED, str(NESTED).replace("'", '"'), f"{LITERAL}403", "NaN", " 403", "[" * 100_000]  # fmt: skip


def test_different_values_have_different_texts():
    texts = [spelled(shown(value)) for value in SHOWN]
    assert [(a, b) for a, b in combinations(texts, 2) if a == b] == []


@pytest.mark.parametrize(
    ("gold", "predicted", "texts"),
    [
        ("403", 403, ['"403"', "403"]),
        ("Ada", {"name": "Ada"}, ["Ada", '{"name":"Ada"}']),
        ({"name": "Ada", "born": 1}, {"name": "Ada", "born": 2}, ["Ada"]),
        ({"name": "Ada"}, {"name": "Ida"}, ["Ada", "Ida"]),
    ],
)
def test_a_pair_is_named_by_both_values_unless_they_have_one_name(gold, predicted, texts):
    assert _brief({"gold": gold, "predicted": predicted}) == texts


def test_an_integer_that_a_browser_cannot_hold_differs_from_its_text():
    (row,) = worst_document(WORDS, [str(2**60)], [2**60])["rows"]
    assert row["entry"]["gold"] != row["entry"]["predicted"]
