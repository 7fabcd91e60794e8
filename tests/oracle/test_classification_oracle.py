"""Scores of classes compared with scikit-learn on generated labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbitre.classification import AVERAGES, report

metrics = pytest.importorskip("sklearn.metrics")

PAIRS = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcde")), min_size=1, max_size=40)


def close(ours, theirs):
    assert np.isnan(theirs) if ours is None else abs(ours - theirs) <= 1e-9


@pytest.mark.filterwarnings("ignore")  # scikit-learn warns of undefined scores
@given(PAIRS, st.one_of(st.none(), st.permutations("abcdef").map(lambda names: names[:4])))
def test_scores_agree_with_scikit_learn(pairs, labels):
    gold, predicted = zip(*pairs, strict=True)
    classes = report(gold, predicted, labels=labels)
    names = list(classes.per_class)
    options = {"labels": names, "zero_division": np.nan}
    for average in AVERAGES:
        precision, recall, f1, _ = metrics.precision_recall_fscore_support(gold, predicted, average=average, **options)
        ours = getattr(classes, average)
        for name, value in (("precision", precision), ("recall", recall), ("f1", f1)):
            if average == "weighted" and getattr(ours, name) is None:  # scikit-learn returns the unweighted mean
                assert not any(
                    scores.support and getattr(scores, name) is not None for scores in classes.per_class.values()
                )
            else:
                close(getattr(ours, name), value)
    columns = metrics.precision_recall_fscore_support(gold, predicted, average=None, **options)
    for label, *theirs, support in zip(names, *columns, strict=True):
        scores = classes.per_class[label]
        for ours, value in zip((scores.precision, scores.recall, scores.f1), theirs, strict=True):
            close(ours, value)
        assert scores.support == support
    close(classes.accuracy, metrics.accuracy_score(gold, predicted))
    every = list(classes.confusion.labels[:-1])
    assert (classes.confusion.matrix[:-1, :-1] == metrics.confusion_matrix(gold, predicted, labels=every)).all()
    assert not classes.confusion.matrix[-1].any()
