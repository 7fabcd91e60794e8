"""The search for causes: what becomes a cause, in which order, and with which figures."""

import json
import random
from collections import Counter
from dataclasses import replace

import pytest

import arbitre
from arbitre import Comparator
from arbitre.causes import search
from arbitre.causes.changes import Correction, OverlayChange, with_absent, with_normalizers
from arbitre.causes.fixes import find_fixes
from arbitre.causes.proposal import Proposal
from arbitre.causes.sample import FEW_DOCUMENTS, MAX_DOCUMENTS, MAX_SEARCHED_VALUES, Sample, documents_to_search
from arbitre.causes.search import find_causes
from arbitre.comparison.cause import KINDS, Cause, CauseAnalysis
from arbitre.inputs.records import Pair
from arbitre.schema.loading.annotations import merged_overlay

LETTER = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "place": {"type": "string"}, "year": {"type": "integer"}},
}
LETTERS = Comparator({"type": "array", "items": LETTER})
NAMES = ("Barthou", "Briand", "Caillaux", "Herriot", "Poincaré", "Tardieu", "Laval", "Flandin", "Doumergue", "Sarraut")
LOWER = OverlayChange({"/*/name": {"normalize": ["casefold"]}})


def letters(count=10, change=lambda entry, _: entry, entries=2):
    """Documents of letters whose predictions are changed; `change(entry, number)` returns the predicted entry."""
    pairs = []
    for number in range(count):
        gold = [
            {
                "name": f"{NAMES[(number + at) % len(NAMES)]} {number}",
                "place": f"Place {number}{at}",
                "year": 1900 + number,
            }
            for at in range(entries)
        ]
        pairs.append((f"letter_{number:02}", gold, [change(dict(entry), number) for entry in gold]))
    return pairs


def as_pairs(triples):
    return [Pair(name, None, gold, predicted) for name, gold, predicted in triples]


def upper(entry, _number):
    return entry | {"name": entry["name"].upper()}


def proposing(*proposals):
    """A detector of all faults at a path, for each kind with its change and p-value."""

    def detector(sample):
        for kind, path, change, p in proposals:
            faults = tuple(fault.number for fault in sample.faults_by_path.get(path, ()))
            if faults:
                yield Proposal(kind, "prediction", (path,), faults, change, p)

    return (detector,)


def found(triples, *phases, comparator=LETTERS):
    """The accepted causes, by the detectors of these phases."""
    made = search.Search(Sample.of(comparator.plan, as_pairs(triples)))
    made.run(phases)
    return made


def test_a_cause_has_the_gain_of_its_change_and_the_remaining_faults_have_the_rest(monkeypatch):
    def change(entry, number):
        return entry | {"name": entry["name"].upper()} | ({"place": "Elsewhere"} if number < 6 else {})

    monkeypatch.setattr(search, "phases", lambda: (proposing(("case", "/*/name", LOWER, 0.0)),))
    pairs = letters(change=change)
    analysis = find_causes(LETTERS.plan, as_pairs(pairs))
    case, rest = analysis.causes[0], analysis.causes[1:]
    before, after = (
        comparator.evaluate(pairs, no_diagnose=True).micro.f1q
        for comparator in (LETTERS, Comparator(LETTERS.schema, overlay=case.change))
    )
    assert (case.kind, case.count, case.documents, case.paths) == ("case", 20, 10, ("/*/name",))
    assert case.gain == case.cost == pytest.approx(after - before)
    assert (analysis.f1q, analysis.f1q_after) == (pytest.approx(before), pytest.approx(after))
    assert sum(cause.cost for cause in analysis.causes) == pytest.approx(1.0 - before)
    assert all(not cause.systematic and cause.change is None for cause in rest)
    assert sum(cause.count for cause in rest) == 12
    assert len({example.id for example in case.examples[:10]}) == 10
    assert [cause.gain for cause in analysis.causes] == sorted((one.gain for one in analysis.causes), reverse=True)


@pytest.mark.parametrize(("count", "p", "accepted"), [(2, 0.0, True), (3, 0.0, True), (3, 0.02, False), (1, 0.0, True)])
def test_an_explanation_needs_evidence_unless_the_corpus_is_small(count, p, accepted):
    made = found(letters(count, upper), proposing(("case", "/*/name", LOWER, p)))
    assert bool(made.found) == accepted


@pytest.mark.parametrize(("wrong", "accepted"), [(2, False), (3, True)])
def test_an_explanation_needs_five_faults_in_three_documents(wrong, accepted):
    pairs = letters(10, lambda entry, number: upper(entry, 0) if number < wrong else entry, entries=4)
    assert bool(found(pairs, proposing(("case", "/*/name", LOWER, 0.0))).found) == accepted
    few = letters(10, lambda entry, number: upper(entry, 0) if number < wrong else entry, entries=1)
    assert not found(few, proposing(("case", "/*/name", LOWER, 0.0))).found


def test_a_change_without_gain_is_no_cause():
    useless = OverlayChange({"/*/name": {"normalize": ["strip"]}})
    assert not found(letters(change=upper), proposing(("spaces", "/*/name", useless, 0.0))).found


def test_a_change_with_a_small_gain_is_a_cause():
    triples = [(f"{at}", [{"name": f"{at}a{1000 * 'b'}"}], [{"name": f"{at}A{1000 * 'b'}"}]) for at in range(10)]
    (case,) = found(triples, proposing(("case", "/*/name", LOWER, 0.0))).found
    assert search.MIN_GAIN < case.gain < 0.001


def test_of_two_explanations_of_the_same_faults_the_better_one_is_accepted():
    half = OverlayChange({"/*/name": {"distance": "jaccard-ngrams"}})
    made = found(letters(change=upper), proposing(("accents", "/*/name", half, 0.0), ("case", "/*/name", LOWER, 0.0)))
    assert [one.proposal.kind for one in made.found] == ["case"]


def test_an_explanation_that_gains_nothing_after_a_better_one_is_no_cause():
    lighter = OverlayChange({"/*/name": {"weight": 0.1}})
    triples = letters(change=lambda entry, number: upper(entry, number) | {"place": "Paris"})
    better, worse = ("case", "/*/name", LOWER, 0.0), ("value-mapping", "/*/place", lighter, 0.0)
    for proposals, kind in (([worse], "value-mapping"), ([worse, better], "case")):
        assert [one.proposal.kind for one in found(triples, proposing(*proposals)).found] == [kind]


@pytest.mark.parametrize("rounds", [1, 2])
def test_the_detectors_of_a_phase_run_a_limited_number_of_times(monkeypatch, rounds):
    monkeypatch.setattr(search, "ROUNDS", rounds)
    fields = iter(("name", "place"))

    def next_field(sample):
        path = f"/*/{next(fields)}"
        return proposing(("case", path, OverlayChange({path: {"normalize": ["casefold"]}}), 0.0))[0](sample)

    triples = letters(change=lambda entry, number: upper(entry, number) | {"place": entry["place"].upper()})
    assert len(found(triples, (next_field,)).found) == rounds


def test_no_more_changes_are_made_than_the_budget_allows():
    triples = letters(change=lambda entry, number: upper(entry, number) | {"place": entry["place"].upper()})
    phases = [
        proposing(("case", path, OverlayChange({path: {"normalize": ["casefold"]}}), 0.0))
        for path in ("/*/name", "/*/place")
    ]
    for budget, limited in ((1, True), (2, False)):
        made = search.Search(Sample.of(LETTERS.plan, as_pairs(triples)), trials_left=budget)
        made.run(phases)
        assert (len(made.found), made.trials_left, made.limited) == (budget, 0, limited)


def test_each_change_is_made_before_the_next_phase():
    seen = []

    def watching(sample):
        seen.append(len(sample.faults))
        return iter(())

    unwrap = Correction(lambda _, predicted: predicted["data"] if isinstance(predicted, dict) else predicted)
    pairs = [(name, gold, {"data": predicted}) for name, gold, predicted in letters()]
    made = found(pairs, proposing(("wrapped-root", "", unwrap, 0.0)), (watching,))
    assert seen == [0]
    assert made.found[0].gain == pytest.approx(1.0)
    assert (made.start.f1q, made.sample.f1q) == (0.0, 1.0)


def test_the_result_does_not_depend_on_the_order_of_the_documents(monkeypatch):
    monkeypatch.setattr(search, "phases", lambda: (proposing(("case", "/*/name", LOWER, 0.0)),))
    pairs = as_pairs(letters(change=upper))
    forth, back = (find_causes(LETTERS.plan, part).causes[0] for part in (pairs, pairs[::-1]))
    assert (forth.gain, forth.count, forth.chance_gain) == (back.gain, back.count, back.chance_gain)


def test_a_change_that_makes_all_documents_equal_is_forgiving(monkeypatch):
    digits = OverlayChange({"/*/name": {"normalize": ["digits"]}})
    monkeypatch.setattr(search, "phases", lambda: (proposing(("case", "/*/name", digits, 0.0)),))
    pairs = [(name, [{"name": f"{name} 7"}], [{"name": f"{name.upper()} 7"}]) for name in NAMES]
    (cause, *_) = find_causes(LETTERS.plan, as_pairs(pairs)).causes
    assert (cause.kind, cause.forgiving) == ("case", True)
    monkeypatch.setattr(search, "phases", lambda: (proposing(("case", "/*/name", LOWER, 0.0)),))
    (cause, *_) = find_causes(LETTERS.plan, as_pairs(pairs)).causes
    assert (cause.kind, cause.forgiving) == ("case", False)
    assert cause.gain > cause.chance_gain > 0.0


def test_custom_distances_are_called_within_their_budget_only(monkeypatch):
    calls = 0

    def distance(gold, predicted):
        nonlocal calls
        calls += 1
        return float(gold != predicted)

    schema = {
        "type": "array",
        "items": {"type": "object", "properties": {"name": {"type": "string", "x-arbitre": {"distance": "own"}}}},
    }
    monkeypatch.setattr(search, "phases", lambda: (proposing(("case", "/*/name", LOWER, 0.0)),))
    pairs = as_pairs(
        [
            (name, [{"name": one["name"]} for one in gold], [{"name": one["name"]} for one in predicted])
            for name, gold, predicted in letters(change=upper)
        ]
    )
    for most, trials in ((9, 0), (1000, 1)):
        calls = 0
        comparator = Comparator(schema, distances={"own": distance}, max_calls=most)
        analysis = find_causes(comparator.plan, pairs)
        assert bool(analysis.notes) == (trials == 0)
        assert sum(cause.kind == "case" for cause in analysis.causes) == trials
        assert calls <= most * len(pairs)


@pytest.mark.parametrize(("most", "changes"), [(8, 0), (11, 0), (12, 1), (15, 1), (16, 2)])
def test_each_change_calls_custom_distances_as_often_as_the_comparison_does(monkeypatch, most, changes):
    """The two lists of a document need four calls; each document is compared, also with that of another one."""
    monkeypatch.setattr(search, "phases", tuple)
    schema = {"type": "array", "items": {"type": "string", "x-arbitre": {"distance": "own"}}}
    comparator = Comparator(schema, distances={"own": lambda gold, predicted: float(gold != predicted)}, max_calls=most)
    pairs = [Pair(name, None, ["a", "b"], ["c", "d"]) for name in "xyz"]
    assert search.Search.of(comparator.plan, pairs).trials_left == changes


def test_causes_are_written_and_read(tmp_path, monkeypatch):
    monkeypatch.setattr(search, "phases", lambda: (proposing(("case", "/*/name", LOWER, 0.0)),))
    evaluation = LETTERS.evaluate(letters(change=upper), out=tmp_path / "out", no_report=True)
    plain = json.loads((tmp_path / "out" / "evaluation.json").read_text(encoding="utf-8"))["causes"]
    assert CauseAnalysis.from_dict(plain) == arbitre.load(tmp_path / "out").cause_analysis == evaluation.cause_analysis
    assert plain["causes"][0]["kind"] == "case"
    without = LETTERS.evaluate(letters(change=upper), no_diagnose=True)
    assert "causes" not in without.to_dict()
    assert without.causes == evaluation.causes  # found when they are asked for


def test_wrong_values_that_no_cause_explains_are_written_and_read_with_their_places(tmp_path, monkeypatch):
    monkeypatch.setattr(search, "phases", lambda: (proposing(("case", "/*/name", LOWER, 0.0)),))
    misread = {2: {"place": "Paris"}, 5: {"year": 1}, 7: {"place": None}}
    triples = letters(change=lambda entry, number: upper(entry, number) | misread.get(number, {}), entries=1)
    evaluation = LETTERS.evaluate(triples, out=tmp_path / "out", no_report=True)
    faults = evaluation.cause_analysis.faults
    assert [(one.id, one.place, one.predicted) for one in faults] == [
        ("letter_02", "/0/place", "Paris"),
        ("letter_05", "/0/year", 1),
    ]
    assert arbitre.load(tmp_path / "out").cause_analysis.faults == faults


def test_an_evaluation_without_diagnosis_does_not_search_for_causes(tmp_path, monkeypatch):
    monkeypatch.setattr("arbitre.causes.search.find_causes", None)
    LETTERS.evaluate(letters(change=upper), out=tmp_path / "out", no_diagnose=True)
    assert (tmp_path / "out" / "report.html").exists()


def test_the_causes_of_a_comparison_are_found_on_request():
    (_, gold, predicted), *_ = letters(change=lambda entry, _: entry | {"place": "Elsewhere"})
    comparison = LETTERS.compare(gold=gold, predicted=predicted)
    assert [cause.count for cause in comparison.causes] == [2]
    assert sum(cause.cost for cause in comparison.causes) == pytest.approx(1.0 - comparison.scores.f1q)
    with pytest.raises(arbitre.DataError, match="The causes are not available"):
        arbitre.Comparison.from_dict(comparison.to_dict()).causes  # noqa: B018


def test_32_documents_of_a_small_corpus_are_examined_unless_more_are_asked_for():
    pairs = letters(70, lambda entry, _: entry | {"place": "Elsewhere"})
    quick, thorough = LETTERS.evaluate(pairs), LETTERS.evaluate(pairs, diagnose=True)
    assert (quick.cause_analysis.documents, quick.cause_analysis.total) == (32, 70)
    assert quick.cause_analysis.notes == (
        "Causes were looked for in 32 of 70 documents; counts, costs and gains refer to these.",
    )
    assert thorough.cause_analysis.documents == 70


def test_a_sixteenth_of_the_documents_of_a_large_corpus_is_examined():
    pairs = [Pair(f"d{number:04}", None, {"pages": []}, {"pages": []}) for number in range(7_000)]
    assert len(documents_to_search(pairs[:700], quick=True)) == 43
    assert len(documents_to_search(pairs, quick=True)) == len(documents_to_search(pairs)) == MAX_DOCUMENTS


@pytest.mark.parametrize("emptied", ["1", "2"])
def test_all_runs_of_a_document_are_examined(emptied):
    pairs = [
        Pair(number, run, gold, [] if run == emptied else gold) for number, gold, _ in letters(40) for run in ("1", "2")
    ]
    analysis = find_causes(LETTERS.plan, documents_to_search(pairs, quick=True), len(pairs))
    assert (analysis.documents, analysis.f1q) == (64, pytest.approx(2 / 3))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ids", "runs", "values", "each"), [(24, 20, 1, 16), (40, 12, 1, 12), (40, 30, 1, 12), (24, 20, 500, 10)]
)
def test_many_runs_do_not_displace_documents(ids, runs, values, each):
    pairs = [
        Pair(f"d{number}", f"r{run:02}", {"pages": [number] * values}, {"pages": []})
        for number in range(ids)
        for run in range(runs)
    ]
    found = documents_to_search(pairs, quick=True)
    assert list(Counter(pair.id for pair in found).values()) == [each] * min(ids, FEW_DOCUMENTS)
    assert len({pair.run for pair in found}) == runs
    assert documents_to_search(pairs[::-1], quick=True) == found
    assert len({pair.id for pair in documents_to_search(pairs)}) >= min(ids, FEW_DOCUMENTS)


def test_fewer_documents_are_examined_if_they_have_many_values():
    pairs = [Pair(f"d{number:02}", None, {"pages": [number] * 1_500}, {"pages": []}) for number in range(100)]
    searched = documents_to_search(pairs)
    assert len(searched) == MAX_SEARCHED_VALUES * 100 // (1_504 * 100) == 87
    assert {pair.id for pair in searched} < {pair.id for pair in pairs}
    assert documents_to_search(pairs[::-1]) == searched
    long = [replace(pair, gold={"pages": [0] * 10_000}) for pair in pairs[:40]]
    assert len(documents_to_search(long)) == FEW_DOCUMENTS
    assert documents_to_search(pairs[:80]) == pairs[:80]


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_settings_are_added_at_every_level_of_a_recursive_schema(depth):
    name = {"type": "string", "x-arbitre": {"normalize": ["strip"]}}
    tree = {"type": "object", "properties": {"name": name, "parts": {"type": "array", "items": {"$ref": "#"}}}}
    path = "/parts/*" * depth + "/name"
    assert with_normalizers(Comparator(tree).plan, path, ["casefold"]) == {"normalize": ["strip", "casefold"]}


def test_settings_are_added_to_those_of_the_schema():
    plan = Comparator(
        LETTERS.schema, overlay={"/*/name": {"normalize": [{"number": {"decimal": ","}}], "absent": [None, "?"]}}
    ).plan
    assert with_normalizers(plan, "/*/name", ["casefold"]) == {"normalize": [{"number": {"decimal": ","}}, "casefold"]}
    assert with_absent(plan, "/*/name", [""]) == {"absent": [None, "?", ""]}
    assert merged_overlay({"/a": {"weight": 2}}, {"/a": {"floor": 0.5}, "/b": {"weight": 1}}) == {
        "/a": {"weight": 2, "floor": 0.5},
        "/b": {"weight": 1},
    }


def test_a_plan_is_compiled_again_with_further_settings():
    comparator = Comparator(LETTERS.schema, overlay={"/*/name": {"weight": 2}})
    again = comparator.plan.with_overlay({"/*/name": {"normalize": ["casefold"]}})
    whole = Comparator(LETTERS.schema, overlay={"/*/name": {"weight": 2, "normalize": ["casefold"]}})
    assert again.signature == whole.signature
    assert comparator.signature == Comparator(LETTERS.schema, overlay={"/*/name": {"weight": 2}}).signature


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_says_what_is_seen_and_what_to_do(kind):
    assert KINDS[kind].seen
    assert KINDS[kind].advice[0].isupper()
    assert KINDS[kind].advice.endswith(".")


@pytest.mark.parametrize("kind", KINDS)
def test_single_faults_that_look_alike_are_repaired_and_not_systematic(kind):
    assert KINDS[kind].systematic == (KINDS[kind].gain != "repair")


class TestFixes:
    """The changes that repair causes."""

    @pytest.fixture(autouse=True)
    def _detectors(self, monkeypatch):
        place = OverlayChange({"/*/place": {"normalize": ["casefold"]}})
        phase = proposing(("case", "/*/name", LOWER, 0.0)), proposing(("accents", "/*/place", place, 0.0))
        monkeypatch.setattr(search, "phases", lambda: ((*phase[0], *phase[1]),))

    def pairs(self, count=24):
        return letters(
            count,
            lambda entry, number: (
                entry | {"name": entry["name"].upper()} | ({"place": entry["place"].upper()} if number % 2 else {})
            ),
        )

    def test_each_gain_is_that_of_the_change_given_those_above(self):
        pairs = self.pairs()
        fixes = find_fixes(LETTERS.plan, as_pairs(pairs))
        assert [fix.cause.kind for fix in fixes.fixes] == ["case", "accents"]
        score = LETTERS.evaluate(pairs, no_diagnose=True).micro.f1q
        for fix, overlay in zip(fixes.fixes, (LOWER.overlay, fixes.overlay), strict=True):
            after = Comparator(LETTERS.schema, overlay=overlay).evaluate(pairs, no_diagnose=True).micro.f1q
            assert fix.gain == pytest.approx(after - score)
            assert fix.f1q == pytest.approx(after)
            score = after
        assert fixes.f1q_after == pytest.approx(score)
        assert all(fix.held_out == pytest.approx(fix.gain, abs=0.1) for fix in fixes.fixes)

    def test_only_accepted_kinds_are_in_the_overlay(self):
        fixes = find_fixes(LETTERS.plan, as_pairs(self.pairs()), ["accents"])
        assert [fix.accepted for fix in fixes.fixes] == [False, True]
        assert fixes.overlay.keys() == {"/*/place"}
        gated = find_fixes(LETTERS.plan, as_pairs(self.pairs()), ["gate"])
        assert gated.overlay == gated.gate.overlay
        with pytest.raises(arbitre.OptionError, match="Expected a kind of cause, got 'dates'"):
            find_fixes(LETTERS.plan, as_pairs(self.pairs()), ["dates"])

    def test_small_corpora_have_no_held_out_documents(self):
        assert [fix.held_out for fix in find_fixes(LETTERS.plan, as_pairs(self.pairs(12))).fixes] == [None, None]

    def test_the_overlay_is_written(self, tmp_path):
        out = tmp_path / "fixes.json"
        fixes = arbitre.fix(LETTERS, self.pairs(), out=out)
        assert json.loads(out.read_text(encoding="utf-8")) == fixes.overlay == fixes.to_dict()["overlay"]
        assert Comparator(LETTERS.schema, overlay=out).evaluate(self.pairs()).micro.f1q == pytest.approx(
            fixes.f1q_after
        )

    def test_the_overlay_contains_the_settings_of_the_given_one(self, tmp_path):
        (tmp_path / "names.csv").write_text("name,variants\nLyon,Lugdunum\n", encoding="utf-8")
        authority = {"normalize": [{"authority": {"file": "names.csv"}}], "weight": 5}
        base, out = tmp_path / "base.json", tmp_path / "new" / "fixes.json"
        base.write_text(json.dumps({"/*/place": authority, "/*/name": {"weight": 2}}), encoding="utf-8")
        fixes = arbitre.fix(LETTERS.schema, self.pairs(), overlay=base, accept=["case"], out=out)
        assert fixes.overlay["/*/name"] == {"weight": 2, **LOWER.overlay["/*/name"]}
        assert fixes.overlay["/*/place"].keys() == authority.keys()
        written = Comparator(LETTERS.schema, overlay=out)
        assert written.evaluate(self.pairs()).micro.f1q == pytest.approx(fixes.f1q_after, rel=1e-12)
        assert fixes.f1q_after > fixes.f1q
        again = arbitre.fix(Comparator(LETTERS.schema, overlay=base), self.pairs(), accept=["case"])
        assert again.overlay == fixes.overlay

    def test_without_changes_the_overlay_is_the_given_one(self):
        base = {"/*/name": {"weight": 2}}
        assert arbitre.fix(LETTERS.schema, self.pairs(), overlay=base, accept=["units"]).overlay == base


TRADES = {"notaire": "lawyer", "boulanger": "baker", "horloger": "clockmaker", "relieur": "binder"}


def mapped(goods, change, documents=24, each=8, **field):
    """What `fix` finds if a field of random goods is changed in all predictions."""
    rng = random.Random(4)  # noqa: S311
    gold = [[{"key": f"x{rng.random()}", "goods": rng.choice(goods)} for _ in range(each)] for _ in range(documents)]
    predicted = [[entry | {"goods": change(entry["goods"])} for entry in entries] for entries in gold]
    schema = {"type": "object", "properties": {"key": {"type": "string"}, "goods": {"type": "string", **field}}}
    pairs = list(zip(map(str, range(documents)), gold, predicted, strict=True))
    (fix,) = arbitre.fix({"type": "array", "items": schema}, pairs).fixes
    assert fix.cause.kind == "value-mapping"
    return fix


def test_a_mapping_of_values_is_accepted_if_its_pairs_recur():
    fix = mapped([*TRADES], TRADES.get)
    assert (fix.accepted, fix.held_out) == (True, pytest.approx(fix.gain))


def test_a_mapping_of_rare_values_is_not_accepted():
    names = [f"{one} {number:04}" for number in range(130) for one in TRADES]
    fix = mapped(names, lambda name: f"{TRADES[name[:-5]][::-1]} {name[::-1]}")
    assert (fix.accepted, fix.held_out < fix.gain / 2) == (False, True)


@pytest.mark.parametrize("documents", [12, 24])
def test_a_mapping_of_values_that_can_be_misread_is_accepted_for_an_enum_only(documents):
    weights = [f"{number} kg" for number in range(100, 115)]

    def misread(weight):
        return weight.replace("1", "l").replace("0", "O")

    fix = mapped(weights, misread, documents)
    assert (fix.accepted, fix.held_out) == (False, pytest.approx(fix.gain) if documents > 20 else None)
    assert mapped(weights, misread, documents, enum=weights).accepted


def test_a_mapping_of_values_with_a_part_of_gold_is_not_accepted():
    titles = {"Briand": "Briand, ministre des affaires étrangères", "Deligne": "Deligne, ministre des travaux publics"}
    assert not mapped([*titles], titles.get).accepted


@pytest.mark.parametrize("rounds", [1, search.ROUNDS])
def test_a_change_keeps_the_earlier_setting_of_its_path(monkeypatch, rounds):
    monkeypatch.setattr(search, "ROUNDS", rounds)
    variants = {"minister": "Minister", "senator": "SENATOR", "deputy": "MP"}
    roles = ["minister", "senator", "deputy", "minister", "deputy"] * 6
    pairs = [
        (f"d{at}", *({"role": one, "key": f"x{at}"} for one in (gold, variants[gold]))) for at, gold in enumerate(roles)
    ]
    schema = {"properties": {"role": {"enum": [*variants]}, "key": {"type": "string"}}}
    fixes = arbitre.fix({"type": "object", **schema}, pairs)
    assert [fix.cause.kind for fix in fixes.fixes] == ["case", "value-mapping"]
    assert fixes.overlay["/role"]["normalize"][0] == "casefold"
    assert fixes.f1q_after == pytest.approx(1.0)
    assert sum(fix.gain for fix in fixes.fixes) == pytest.approx(fixes.f1q_after - fixes.f1q)


def test_a_cause_survives_json():
    overlay = {"/a": {"normalize": ["casefold"]}}
    cause = Cause("case", "schema", ("/a",), 5, 0.1, 0.2, overlay, (), documents=3, advice="Do it.", detail={"n": 1})
    assert Cause.from_dict(json.loads(json.dumps(cause.to_dict()))) == cause


def test_runs_of_a_document_count_once():
    runs = [Pair(f"letter_{at // 3}", str(at % 3), *sides) for at, (_, *sides) in enumerate(letters(9, upper))]
    two = search.Search(Sample.of(LETTERS.plan, runs[:6]))
    two.run([proposing(("case", "/*/name", LOWER, 0.0))])
    assert two.found  # a corpus of two documents has no minimum
    unchanged = [Pair(f"other_{at}", None, gold, gold) for at, (_, gold, _) in enumerate(letters(5))]
    of_two = search.Search(Sample.of(LETTERS.plan, [*runs[:6], *unchanged]))
    of_two.run([proposing(("case", "/*/name", LOWER, 0.0))])
    assert not of_two.found
