"""Texts that could be executed or break the layout, and a corpus that contains them in every place."""

from __future__ import annotations

from dataclasses import replace

from tests.worst_documents import keeping

import arbitre
from arbitre.inputs.join import JoinedCorpus
from arbitre.inputs.records import Failure, Pair
from arbitre.parsing.fast_json import json_text
from arbitre.report.build_view import build_subject
from arbitre.report.report_files import view_of
from arbitre.report.view import FactorLevel, FactorPathRow, FactorView, PairwiseTest

TEXTS = [
    "<script>window.pwned = 1</script>",
    "</script><script>window.pwned = 2</script>",
    "<!--<script>window.pwned = 3</script>",
    '<img src=x onerror="window.pwned = 4">',
    "\"'><svg onload=window.pwned=5>",
    "javascript:window.pwned = 6",
    "{{ 7 * 191 }}{% include 'x' %}${7 * 191}",
    "&lt;b&gt;&amp;",
    "]]>\u2028\u2029window.pwned = 7",
    "a\u202egpj.exe\u2066b\u200b\ufeff",
    "bell\x07 escape\x1b[2J nul\x00 tab\t line\nend",
    "half \ud800 pair",
    '=HYPERLINK("http://example.org")',
    "x" * 1_000_000,
]
SCHEMA = {
    "title": TEXTS[1],
    "type": "object",
    "properties": {
        TEXTS[0]: {"type": "integer"},
        "items": {
            "type": "array",
            "items": {"type": "object", "properties": {"name": {"type": "string"}, TEXTS[3]: {}}},
            "x-arbitre": {"entries": True},
        },
    },
}


def view(texts=TEXTS):
    """A view of documents that hold the texts as values, keys, ids and reasons."""
    predicted = {"items": [{"name": text, TEXTS[3]: [text], text[:40]: {text[:40]: text[:2000]}} for text in texts]}
    gold = {TEXTS[0]: 1, "items": [{"name": text[:-1] + "ö", TEXTS[3]: [text, 1]} for text in texts[:-2]]}
    failure = Failure("predicted", TEXTS[2], TEXTS[3], f"{TEXTS[4]}.json", 3, TEXTS[5], reason=TEXTS[1])
    pairs = (
        Pair(TEXTS[1], None, gold, predicted),
        Pair(TEXTS[2], TEXTS[3], gold, arbitre.ABSENT, failure),
        Pair("plain", None, {"items": [{"name": "Ada"}]}, {"items": [{"name": "Ada"}]}),
    )
    plan = arbitre.Comparator(SCHEMA).plan
    joined = JoinedCorpus(pairs, (failure,), (TEXTS[0], TEXTS[9]))
    kept, evaluation = keeping(plan, joined, room=50_000_000)
    plain = evaluation.to_dict()
    made = view_of([build_subject(plain, kept.to_dict(evaluation, json_text(plain)), name=TEXTS[3])])
    return replace(made, factors=[factor(text[:40]) for text in texts])


def factor(text):
    """A factor of this name, with a level and a path of the same name, and a note that says it."""
    levels = [FactorLevel(text, 1, 0.5), FactorLevel("", 1, None)]
    path = FactorPathRow(f"/{text}", f"/{text}", 0, [0.5, None])
    tests = [PairwiseTest(text, "", *[None] * 6, 1)]
    return FactorView(text, "f1q", "micro", levels, tests, balanced=False, notes=[text], paths=[path])
