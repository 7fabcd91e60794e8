"""What a notebook shows of results."""

from __future__ import annotations

import re

import arbitre

COMPARATOR = arbitre.Comparator({"type": "object", "additionalProperties": {"type": "string"}})


def cells(html, row):
    found = re.search(rf"<tr><th>{re.escape(row)}</th>(.*?)</tr>", html)
    return re.findall("<td>(.*?)</td>", found[1])


def test_a_comparison_and_an_evaluation_are_tables():
    comparison = COMPARATOR.compare(gold={"a": "ink", "b": "x"}, predicted={"a": "ink"})
    html = comparison._repr_html_()
    assert "Quality of the whole document: 0.5000" in html
    assert cells(html, "entries") == ["0.6667", "1", "0.5000", "1", "2", "1", "1"]
    assert comparison.signature.short in html
    evaluation = COMPARATOR.evaluate([("d", {"a": "ink"}, {"a": "ink"}), ("e", {"a": "x"}, arbitre.ABSENT)])
    html = evaluation._repr_html_()
    assert "2 documents, 1 failed, document quality 0.5000 (mean)" in html
    assert cells(html, "Pooled (micro)")[-3:] == ["2", "1", "1"]
    assert cells(html, "Per-document mean (macro)")[0] == "0.5000"


def test_names_from_data_are_escaped():
    comparison = arbitre.Comparator({}).compare(gold={"<script>": 1}, predicted={"<script>": 2})
    html = comparison._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
