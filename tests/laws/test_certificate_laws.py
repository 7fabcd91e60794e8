"""The theorem that the certificate rests on, held against documents: metrics below make a metric above."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.builders import METRIC, NEITHER, PSEUDO, VERDICTS, canonical, distances, edited, parts

from arbitre import Comparator

NEAR = 1e-9
slow = settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))


@st.composite
def chains(draw, worst):
    """A part, a document of it, and others each of which is the last one with a few edits."""
    part = draw(parts(worst=worst))
    documents = [draw(part.documents)]
    for _ in range(4):
        documents.append(draw(edited(part, documents[-1])))
    return part, documents


def measured(part, documents):
    comparator = Comparator(part.schema)
    return comparator.certificate.verdict, distances(comparator.plan, documents)


@slow
@given(case=chains(METRIC))
def test_a_certified_metric_is_one(case):
    part, documents = case
    verdict, table = measured(part, documents)
    assert verdict == "metric"
    check_pseudometric(table)
    known = [canonical(part, document) for document in documents]
    assert (table <= NEAR).tolist() == [[one == other for other in known] for one in known]


@slow
@given(case=chains(PSEUDO))
def test_a_certified_pseudo_metric_is_one(case):
    part, documents = case
    verdict, table = measured(part, documents)
    assert verdict == VERDICTS[part.verdict]
    check_pseudometric(table)


def check_pseudometric(table):
    assert table.diagonal() == pytest.approx(np.zeros(len(table)), abs=NEAR)
    assert table == pytest.approx(table.T, abs=NEAR)
    assert (table[:, None, :] <= table[:, :, None] + table[None, :, :] + NEAR).all()


@slow
@given(part=parts(worst=NEITHER))
def test_the_verdict_is_that_of_the_worst_part(part):
    certificate = Comparator(part.schema).certificate
    assert certificate.verdict == VERDICTS[part.verdict]
    assert bool(certificate.breaks) == (part.verdict != METRIC)
    assert all(found.reason and found.remedy for found in certificate.breaks)
