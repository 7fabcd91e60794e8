"""Sentences about tests and intervals, the same in the terminal and in the report."""

from __future__ import annotations

import io
import re
from dataclasses import asdict, replace

import pytest
from rich.console import Console

import arbitre
from arbitre.cli.commands.rank import ranking_blocks
from arbitre.cli.output.result_tables import intervals
from arbitre.comparison.cause import KINDS
from arbitre.jobs.ranking_job import RankingResults
from arbitre.language import Language, Translator, catalogue
from arbitre.report.build_view import build_subject, ranked
from arbitre.report.render import FORMULAS
from arbitre.report.sentences import contrast, methods, no_causes
from arbitre.report.statistics_text import detectable, lead, procedure, sampled, to_best
from arbitre.report.view import TrustView
from arbitre.systems.ranking import StatisticsOptions, rank

NAMES = arbitre.Comparator({"type": "array", "items": {"type": "string", "x-arbitre": {"distance": "exact"}}})
EN, FR = Translator(Language.EN), Translator(Language.FR)
GOLD = ["Ada", "Bo", "Cy", "Di"]


def right(*counts, runs=1):
    """The evaluation of a system that finds so many of the four names on each page, in several runs."""
    return NAMES.evaluate((f"p{at:02}", GOLD, GOLD[:count]) for at, count in enumerate(counts) for _ in range(runs))


def systems(found):
    return asdict(ranked(found.to_dict()))


def test_three_documents_show_no_difference():
    found = systems(rank({"a": right(4, 4, 4), "b": right(2, 3, 1)}, "irq"))
    assert lead(found, EN) == (
        "Scores: a (1.00), b (0.50). "
        "No difference shown between a and b (p = 0.25; with 3 documents no p below 0.25 is possible)."
    )
    assert lead(found, FR) == (
        "Scores\u00a0: a (1,00), b (0,50). "
        "Aucune différence établie entre a et b (p = 0,25\u202f; avec 3 documents, aucun p inférieur à 0,25 n’est possible)."
    )


def test_the_headline_states_a_small_p_with_its_digits():
    found = systems(ranking := rank({"a": right(*[4] * 12), "b": right(*[3] * 12)}, "irq"))
    assert to_best(found)[1]["adjusted"] == 2 / 2**12
    assert contrast(found, EN).split(" · ")[1:] == ["p = 0.0005", "12 documents: take it as a hint"]
    assert contrast(found, FR).split(" · ")[1] == "p = 0,0005"
    assert ">0.0005<" in ranking._repr_html_()
    assert "p = 0.0504" in contrast(found | {"tests": [found["tests"][0] | {"adjusted": 0.0504}]}, EN)


def test_the_smallest_possible_p_uses_the_documents_that_differ():
    found = systems(rank({"a": right(4, 4, *[3] * 10), "b": right(3, 3, *[3] * 10)}, "irq"))
    assert lead(found, EN).endswith("(p = 0.5; with 2 differing documents no p below 0.5 is possible).")


def test_the_units_of_clusters_are_named():
    found = systems(rank({"a": right(4, 4, 4, runs=2), "b": right(2, 3, 1, runs=2)}, "irq"))
    assert lead(found, EN).endswith("(p = 0.25; with 3 clusters no p below 0.25 is possible).")
    assert sampled(found["sampled"], EN) == "6 documents in 3 clusters (runs of one document)"
    assert sampled(found["sampled"], FR) == "6 documents en 3 grappes (exécutions d’un même document)"


def test_the_headline_names_the_units_of_the_test():
    found = systems(rank({"a": right(*[4] * 20, runs=2), "b": right(*[3] * 20, runs=2)}, "irq"))
    assert contrast(found, EN).endswith(" · 40 documents in 20 clusters (runs of one document): take it as a hint")
    found = systems(rank({"a": right(*[4] * 30, runs=2), "b": right(*[3] * 30, runs=2)}, "irq"))
    assert contrast(found, EN).endswith(" · 60 documents in 30 clusters (runs of one document)")


def test_documents_without_a_defined_score_are_not_counted():
    pages = [(f"p{at:02}", GOLD if at < 5 else []) for at in range(40)]
    evaluations = {
        "a": NAMES.evaluate((page, gold, gold) for page, gold in pages),
        "b": NAMES.evaluate((page, gold, gold[:2]) for page, gold in pages),
    }
    ranking = rank(evaluations, "f1q")
    assert (ranking.documents, ranking.clusters) == (5, None)
    note = "Documents not counted because f1q is undefined for every system: 35 of 40."
    assert note in ranking.notes
    assert FR.sentence(note) == "Documents non comptés, car f1q n’y est défini pour aucun système\u00a0: 35 sur 40."
    found = systems(ranking)
    assert contrast(found, EN).endswith(" · 5 documents: take it as a hint")
    assert "(p = 0.0625; with 5 documents no p below 0.0625 is possible)" in lead(found, EN)
    assert "on 5 documents" in procedure(found, EN)
    evaluations["b"] = NAMES.evaluate((page, gold, ["Ed"]) for page, gold in pages)
    assert rank(evaluations, "f1q").documents == 40


def test_the_paragraph_for_a_methods_section_states_the_documents_that_are_not_counted():
    evaluation = NAMES.evaluate((f"p{at:02}", GOLD if at < 5 else [], GOLD[:at] if at < 5 else []) for at in range(40))
    assert evaluation.intervals["documents"] == evaluation.macro.documents["f1q"] == 5
    plain = evaluation.to_dict()
    observed = {"trust": asdict(TrustView.of(plain["trust"]))}
    (text,) = methods([asdict(build_subject(plain, observed))], "1", EN)
    assert "Units: 5 documents." in text
    assert "Documents: 40; failed and counted as empty predictions: 0; empty in gold and prediction" in text
    assert "excluded from means: 35." in text
    terminal = io.StringIO()
    Console(file=terminal, width=200).print(intervals(evaluation.trust, 200))
    assert "Intervals: clopper-pearson over 5 documents." in terminal.getvalue()
    assert "Fewer than 30 documents (5)" in terminal.getvalue()


def test_the_report_says_that_all_values_are_correct_only_if_they_are():
    searched = {"documents": 187, "total": 3000}

    def said(rate, causes=searched, faults=None, say=EN):
        one = {"document_quality": {"exact_match_rate": rate}, "causes": causes, "faults": faults}
        return " ".join(no_causes([one], say))

    assert said(1.0) == said(None) == "No faults were found: every value is correct."
    text = said(2999 / 3000)
    assert text.startswith("No causes were found, although not all values are correct. Causes were looked for in a ")
    assert "sample of 187 of 3000 documents" in text
    assert text.endswith("evaluate with --diagnose.")
    assert "--diagnose" not in said(0.5, faults={"rows": []})
    assert said(0.5, say=FR).startswith("Aucune cause n’a été trouvée, bien que")
    assert said(0.5, causes=None).startswith("Causes were not looked for.")


def test_no_smallest_p_is_named_without_a_limit():
    found = systems(rank({"a": right(4, 2, 3, 1, 4, 2, 3, 1), "b": right(2, 4, 1, 3, 2, 4, 1, 2)}, "irq"))
    assert lead(found, EN).endswith("No difference shown between a and b (p = 1).")


def test_a_difference_is_stated_for_the_better_system():
    found = systems(rank({"worse": right(*[3] * 8), "Better": right(*[4] * 8)}, "irq"))
    assert lead(found, EN) == "Scores: Better (1.00), worse (0.75). Better is better than worse (p = 0.00781)."


def test_several_systems_are_summarised_in_two_sentences():
    evaluations = {"a": right(*[4] * 9), "b": right(*[4] * 7, 3, 3), "c": right(*[2] * 9), "d": right(*[1] * 9)}
    found = systems(rank(evaluations, "irq"))
    assert lead(found, EN) == (
        "a (1.00) has the highest score. "
        "a is better than c and d (p ≤ 0.00391, max-T over 6 pairs). "
        "No difference shown between a and b (p = 0.5, max-T over 6 pairs; "
        "with 2 differing documents no p below 0.5 is possible). "
        "5 of 6 pairs differ significantly."
    )


def test_the_smallest_detectable_difference_to_the_best_is_stated():
    names = ("a", "b", "c")
    found = systems(
        rank(dict(zip(names, (right(*[4] * 20), right(*[3, 4] * 10), right(*[2, 4] * 10)), strict=True)), "irq")
    )
    assert [one and one["difference"] for one in to_best(found)] == [None, -0.125, -0.25]
    assert detectable(found, EN) == (
        "Smallest true difference to the best system that would be detected (power 80%): 0.08 to 0.17, depending on the "
        "system."
    )
    two = systems(rank({"a": right(*[4] * 20), "b": right(*[3, 4] * 10)}, "irq"))
    assert detectable(two, FR).endswith("le test détecterait (puissance 80\u00a0%)\u00a0: 0,08.")
    assert detectable(systems(rank({"a": right(4, 4, 4), "b": right(2, 3, 1)}, "irq")), EN) == ""


def test_long_lists_of_systems_are_cut_with_a_count():
    found = systems(rank({f"s{at:02}": right(4, 4, 4, at % 4) for at in range(15)}, "irq"))
    assert (
        "No difference shown between s03 and any of s07, s11, s02, s06, s10 and 9 more (p ≥ 1, max-T over 105 pairs; "
        in lead(found, EN)
    )


def test_equal_systems_and_undefined_scores_are_stated():
    same = systems(rank({"a": right(4, 3), "b": right(4, 3)}, "irq"))
    assert lead(same, EN).endswith("No difference between a and b: same irq on every document.")
    pages = {"a": [["w", "x"], []] * 2, "b": [["w"], ["w"]] * 2}
    found = {
        name: replace(
            NAMES.evaluate(zip("pqrs", [["w", "x"]] * 4, own, strict=True)), clusters=("v1", "v1", "v2", "v2")
        )
        for name, own in pages.items()
    }
    sums = systems(rank(found, "f1q", options=StatisticsOptions(aggregate="micro")))
    assert lead(sums, EN).endswith("same f1q in every cluster.")
    assert lead(sums, FR).endswith("même f1q dans chaque grappe.")
    nothing = {"a": NAMES.evaluate([("p", [], ["x"])]), "b": NAMES.evaluate([("p", [], [])])}
    assert lead(systems(rank(nothing, "irq")), EN) == ""


def test_a_system_with_an_undefined_score_is_not_called_equal_to_the_best():
    evaluations = {"a": right(*[4] * 9), "b": right(*[4] * 9), "c": right(*[1] * 9)}
    evaluations["none"] = NAMES.evaluate([(one, [], []) for one in evaluations["a"].document_table.ids])
    found = systems(rank(evaluations, "irq"))
    assert lead(found, EN) == (
        "a (1.00) has the highest score. a is better than c (p = 0.00391, max-T over 3 pairs). "
        "No difference between a and b: same irq on every document. "
        "No test of a and none: the score is undefined, or they have no documents in common. "
        "2 of 3 pairs differ significantly."
    )
    assert lead(found, FR).endswith(
        "Aucune différence entre a et b\u00a0: même irq pour chaque document. Pas de test entre a et none\u00a0: le "
        "score n’est pas défini, ou ils n’ont aucun document en commun. La différence est significative pour 2 paires "
        "sur 3."
    )


def test_without_tests_no_difference_is_claimed():
    found = systems(rank({"a": right(4), "b": right(3)}, "irq")) | {"tests": None}
    assert lead(found, EN) == ("Scores: a (1.00) and b (0.75). The significance of the differences was not tested.")
    assert procedure(found, EN) == ""


@pytest.mark.parametrize("counts", [(4, 3, 2), (4, 4, 4, 4, 4, 4, 4, 4)])
def test_terminal_and_report_state_the_same_result(counts):
    found = rank({"a": right(*counts), "b": right(*[2] * len(counts))}, "irq")
    console = Console(width=200, file=io.StringIO())
    for block in ranking_blocks(RankingResults(found), 200):
        console.print(block)
    text = " ".join(console.file.getvalue().split())
    assert lead(systems(found), EN) in text
    assert "ahead" not in text
    assert ("better" in text) is found.pairs[0].significant


def test_the_methods_text_names_interval_test_correction_and_units():
    evaluations = {"a": right(*[4] * 9, runs=2), "b": right(*[3] * 9, runs=2), "c": right(*[2] * 9, runs=2)}
    text = procedure(systems(rank(evaluations, "irq")), EN)
    for part in (
        "irq, as the mean over documents, on 18 documents in 9 clusters (runs of one document)",
        "Intervals at 95%: Clopper-Pearson with an effective number of units (Korn and Graubard, 1998)",
        "paired approximate randomisation (Noreen, 1989), with all swaps enumerated",
        "the null hypothesis is that the results of both systems on a cluster are exchangeable",
        "p was adjusted for 3 pairs by the step-down max-T procedure (Westfall and Young, 1993)",
    ):
        assert part in text
    drawn = procedure(systems(rank({"a": right(*[4] * 20), "b": right(*[3] * 20)}, "irq")), FR)
    assert "avec 10\u202f000 permutations aléatoires" in drawn
    assert "Un seul test a été fait" in drawn


@pytest.mark.parametrize(
    ("value", "digits", "english", "french"),
    [
        (1234, 0, "1234", "1234"),
        (12345, 0, "12,345", "12\u202f345"),
        (1234567.25, 0, "1,234,567.25", "1\u202f234\u202f567,25"),
        (2.9999999999999996, 0, "3", "3"),
        (-12345.5, 1, "\N{MINUS SIGN}12,345.5", "\N{MINUS SIGN}12\u202f345,5"),
        (-0.001, 2, "0.00", "0,00"),
        (0.125, 2, "0.12", "0,12"),
        (None, 2, "–", "–"),
    ],
)
def test_numbers_follow_the_rules_of_the_language(value, digits, english, french):
    assert (Language.EN.number(value, digits), Language.FR.number(value, digits)) == (english, french)


def test_counts_in_sentences_are_grouped():
    assert EN("units.documents", n=200_000) == "200,000 documents"
    assert FR("units.documents", n=200_000) == "200\u202f000 documents"
    assert EN("units.documents", n=1) == "1 document"
    note = "Fewer than 20000 documents (12345): the interval is probably too narrow."
    assert EN.sentence(note) == note.replace("20000", "20,000").replace("12345", "12,345")
    assert "20\u202f000 documents (12\u202f345)" in FR.sentence(note)


def test_french_strings_have_no_break_spaces_and_typographic_apostrophes():
    for name, texts in catalogue().items():
        text = re.sub(r"{[^}]+}", "x", texts["fr"]).replace('(")', "")
        assert not re.search(r"(?<![\u00a0\u202f])[;!?»%]|\w:(?!\w)| :|« |['\"]|\.\.\.", text), name


def test_every_score_has_a_name_with_its_identifier():
    names = {name.removeprefix("score."): texts for name, texts in catalogue().items() if name.startswith("score.")}
    assert set(FORMULAS) | {"pq"} == set(names)
    assert (names["recall"]["fr"], names["recall"]["en"]) == ("rappel (recall)", "recall")
    for name, texts in names.items():
        assert all(text.lower() == name or text.endswith(f" ({name})") for text in texts.values())


def test_every_kind_of_cause_has_a_short_name_and_an_advice():
    texts = catalogue()
    for kind in KINDS:
        assert all(len(label) <= 32 for label in texts[f"cause.{kind}"].values()), kind
        assert all(advice.endswith(".") for advice in texts[f"advice.{kind}"].values()), kind
    for language in ("en", "fr"):
        assert len({texts[f"cause.{kind}"][language] for kind in KINDS}) == len(KINDS)
