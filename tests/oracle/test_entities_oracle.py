"""Entities compared with seqeval and nervaluate on generated tags."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from arbitre.classification import AVERAGES
from arbitre.entities import evaluate, from_tags, to_tags
from arbitre.entities.outcomes import EntityColumns

seqeval = pytest.importorskip("seqeval.metrics")
nervaluate = pytest.importorskip("nervaluate")

LABELS = ("city", "org", "person")
THEIRS = {"strict": "strict", "exact": "exact", "partial": "partial", "type": "ent_type"}
pytestmark = pytest.mark.filterwarnings("ignore")  # seqeval warns of undefined scores


@st.composite
def tags(draw, length):
    """The BIO tags of a sentence."""
    result, at = [], 0
    while at < length:
        label, size = draw(st.sampled_from(("O", "O", *LABELS))), draw(st.integers(1, 3))
        size = min(size, length - at)
        result += ["O"] * size if label == "O" else [f"B-{label}"] + [f"I-{label}"] * (size - 1)
        at += size
    return result


@st.composite
def corpora(draw, longest=12):
    """Gold and predicted tags of some sentences."""
    lengths = draw(st.lists(st.integers(1, longest), min_size=1, max_size=5))
    return [draw(tags(length)) for length in lengths], [draw(tags(length)) for length in lengths]


def close(ours, theirs):
    assert abs((ours or 0.0) - theirs) <= 1e-9


@given(corpora())
def test_strict_scores_agree_with_seqeval(corpus):
    gold, predicted = corpus
    evaluation = evaluate(gold, predicted)
    theirs = (
        seqeval.classification_report(gold, predicted, output_dict=True, zero_division=0)
        if evaluation.per_class
        else {}
    )
    for label, scores in evaluation.per_class.items():
        close(scores.precision, theirs[label]["precision"])
        close(scores.recall, theirs[label]["recall"])
        close(scores.f1, theirs[label]["f1-score"])
        assert scores.support == theirs[label]["support"]
    for average in AVERAGES if evaluation.per_class else ():
        if average == "micro" or all(
            scores.precision is not None and scores.recall is not None for scores in evaluation.per_class.values()
        ):
            ours = getattr(evaluation.classes, average)
            close(ours.precision, theirs[f"{average} avg"]["precision"])
            close(ours.recall, theirs[f"{average} avg"]["recall"])
        close(getattr(evaluation.classes, average).f1, theirs[f"{average} avg"]["f1-score"])
    close(evaluation.f1, seqeval.f1_score(gold, predicted))
    close(evaluation.micro.f1q, seqeval.f1_score(gold, predicted))
    close(evaluation.token_accuracy.accuracy, seqeval.accuracy_score(gold, predicted))


@st.composite
def any_tags(draw, prefixes):
    """Tags in any order, valid or not."""
    return draw(
        st.lists(
            st.one_of(st.just("O"), st.builds("{}-{}".format, st.sampled_from(prefixes), st.sampled_from("ab"))),
            min_size=1,
            max_size=8,
        )
    )


@given(st.sampled_from(("BI", "BIES")).flatmap(any_tags))
def test_irregular_tags_are_read_as_seqeval_reads_them(sentence):
    from seqeval.metrics.sequence_labeling import get_entities

    ours = from_tags(sentence, sentence, lenient=True)
    assert [(span["label"], span["start"], span["end"] - 1) for span in ours] == get_entities(sentence)


@given(st.integers(1, 12).flatmap(tags), st.sampled_from(("bio", "iob1", "bioes")))
def test_tags_survive_every_notation(sentence, notation):
    spans = from_tags(sentence, sentence)
    converted = to_tags(sentence, spans, notation=notation)
    assert from_tags(sentence, converted, notation=notation) == spans
    assert to_tags(sentence, spans) == sentence


def theirs_of(gold, predicted):
    results = nervaluate.Evaluator(gold, predicted, tags=list(LABELS), loader="list").evaluate()
    return results["overall"], results["entities"]


@given(corpora())
def test_strict_and_exact_scores_agree_with_nervaluate(corpus):
    overall, by_class = theirs_of(*corpus)
    for scheme in ("strict", "exact"):
        evaluation, theirs = evaluate(*corpus, scheme), overall[scheme]
        counts = evaluation.counts
        assert (counts.correct, counts.tp + counts.fp, counts.support) == (
            theirs.correct,
            theirs.actual,
            theirs.possible,
        )
        close(evaluation.precision, theirs.precision)
        close(evaluation.recall, theirs.recall)
        close(evaluation.f1, theirs.f1)
        for label, scores in evaluation.per_class.items():
            close(scores.f1, by_class[label][scheme].f1)


def overlaps(left, right):
    return left["start"] < right["end"] and right["start"] < left["end"]


def one_to_one(gold, predicted):
    """Whether no entity overlaps two of the other side: only then do all matchings agree."""
    return all(
        sum(overlaps(span, other) for other in others) <= 1
        for ours, theirs in zip(gold, predicted, strict=True)
        for spans, others in ((ours, theirs), (theirs, ours))
        for span in spans
    )


@given(
    corpora(longest=8).filter(lambda corpus: one_to_one(*([from_tags(tags, tags) for tags in side] for side in corpus)))
)
def test_all_counts_agree_with_nervaluate_if_entities_overlap_one_to_one(corpus):
    overall, by_class = theirs_of(*corpus)
    for scheme, name in THEIRS.items():
        evaluation = evaluate(*corpus, scheme)
        for ours, theirs in (
            (evaluation.counts, overall[name]),
            *((scores, by_class[label][name]) for label, scores in evaluation.per_class.items()),
        ):
            assert (ours.correct, ours.incorrect, ours.partial, ours.missing, ours.spurious) == (
                theirs.correct,
                theirs.incorrect,
                theirs.partial,
                theirs.missed,
                theirs.spurious,
            )
            close(ours.precision, theirs.precision)
            close(ours.recall, theirs.recall)
            close(ours.f1, theirs.f1)


@given(corpora())
def test_no_scheme_finds_fewer_correct_entities_than_nervaluate(corpus):
    overall, _ = theirs_of(*corpus)
    for scheme in ("strict", "exact", "type"):
        assert evaluate(*corpus, scheme).counts.correct >= overall[THEIRS[scheme]].correct


@given(corpora())
def test_partial_never_falls_below_the_credit_of_semeval(corpus):
    overall, _ = theirs_of(*corpus)
    evaluation, theirs = evaluate(*corpus, "partial"), overall["partial"]
    credit = theirs.correct + theirs.partial / 2
    assert evaluation.counts.tp >= credit
    assert evaluation.micro.quality_mass >= credit - 1e-9


def test_partial_prefers_more_pairs_to_greater_overlaps():
    gold, predicted = (
        [[{"start": start, "end": end, "label": "city"} for start, end in spans]]
        for spans in (((1, 10), (11, 20), (21, 30)), ((0, 2), (2, 12), (12, 22)))
    )
    evaluation = evaluate(gold, predicted, "partial")
    assert evaluation.counts.partial == evaluation.per_class["city"].partial == evaluation.confusion.matrix[0, 0] == 3


def columns_of(gold, predicted):
    """Unmatched entities, each as (sentence, start, end, label)."""
    rows = np.array([*gold, *predicted], dtype=np.intp).reshape(-1, 4)
    codes, ours = np.arange(len(rows)), np.arange(len(rows)) < len(gold)
    return EntityColumns(
        rows[:, 0], np.where(ours, codes, -1), np.where(ours, -1, codes), np.zeros(len(rows)), rows[:, 1:], 3
    )


def worth(pairs, *, credit):
    """What a matching maximises: its pairs, or their credit doubled, then its overlaps."""
    first = sum(1 + (credit and one[1:3] == other[1:3]) for one, other in pairs)
    overlaps = 0.0
    for (_, start, end, _), (_, begin, stop, _) in pairs:
        common = min(end, stop) - max(start, begin)
        overlaps += common / (end - start + stop - begin - common)
    return first, overlaps


def best_of_all_pairs(gold, predicted, *, same, credit):
    """An optimal matching from the table of all pairs."""

    def grade(one, other):
        apart = one[0] != other[0] or one[2] <= other[1] or other[2] <= one[1]
        if apart or (same is not None and (one[3] == other[3]) != same):
            return 0.0
        first, overlap = worth([(one, other)], credit=credit)
        return first + overlap / 100

    table = np.array([[grade(one, other) for other in predicted] for one in gold]).reshape(len(gold), len(predicted))
    rows, columns = linear_sum_assignment(table, maximize=True)
    return [(gold[row], predicted[column]) for row, column in zip(rows, columns, strict=True) if table[row, column] > 0]


SPANS = st.lists(
    st.builds(
        lambda sentence, start, size, label: (sentence, start, start + size, label),
        st.integers(0, 2),
        st.integers(0, 8),
        st.integers(1, 4),
        st.integers(0, 2),
    ),
    max_size=12,
)


@given(SPANS, SPANS, st.sampled_from((None, True, False)), st.booleans())
def test_matchings_of_overlapping_entities_are_optimal_among_all_pairs(gold, predicted, same, credit):
    columns = columns_of(gold, predicted)
    if credit:
        found = columns.by_credit(same=same)
        codes = found.gold[found.matched], found.predicted[found.matched]
    else:
        codes = columns.overlapping(same=same)
    every = [*gold, *predicted]
    pairs = [(every[one], every[other]) for one, other in zip(*codes, strict=True)]
    ours, best = (
        worth(each, credit=credit) for each in (pairs, best_of_all_pairs(gold, predicted, same=same, credit=credit))
    )
    assert ours == pytest.approx(best)


def test_memory_grows_with_the_overlaps_and_not_with_all_pairs():
    side = [(0, 10 * number, 10 * number + 4, 0) for number in range(3000)]
    columns = columns_of(side, side)
    tracemalloc.start()
    assert len(columns.overlapping()[0]) == 3000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10_000_000  # a table of all pairs takes 72 MB
