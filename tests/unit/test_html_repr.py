"""The HTML of results in a notebook."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

import arbitre

PEOPLE = arbitre.Comparator(
    {
        "type": "array",
        "items": {"type": "object", "properties": {"name": {"type": "string"}, "pages": {"type": "array"}}},
    }
)
GOLD = [{"name": "Lorimond, Achille", "pages": [12, 40]}, {"name": "Mossgrave, Ellen", "pages": [7]}]
PREDICTED = [
    {"name": "Mossgrave, E1len", "pages": [7]},
    {"name": "Lorimond, Achille", "pages": [12]},
    {"name": "<script>Harold</script>\u202e", "pages": [99]},
]
COMPARISON = PEOPLE.compare(gold=GOLD, predicted=PREDICTED)
EVALUATION = PEOPLE.evaluate([*((f"page_{at}", GOLD, PREDICTED) for at in range(5)), ("<lost>", GOLD, arbitre.ABSENT)])
WORSE = PEOPLE.evaluate((document.id, GOLD, GOLD[:1]) for document in EVALUATION.documents)
RESULTS = {
    "comparator": PEOPLE,
    "comparison": COMPARISON,
    "alignment": COMPARISON.alignment(""),
    "evaluation": EVALUATION,
    "ranking": arbitre.rank({"<b>first</b>": EVALUATION, "second": WORSE}),
    "missing": PEOPLE.compare(gold=GOLD, predicted=arbitre.ABSENT),
    "empty": PEOPLE.compare(gold=[], predicted=[]),
    "empty alignment": PEOPLE.compare(gold=[], predicted=[]).alignment(""),
    "no documents": PEOPLE.evaluate([]),
    "from JSON": arbitre.Comparison.from_dict(COMPARISON.to_dict()),
}


class Reader(HTMLParser):
    """Collects the tags, and checks that they are nested."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.open = set(), []
        self.feed(html)

    def handle_starttag(self, tag, _):
        self.tags.add(tag)
        self.open.append(tag)

    def handle_startendtag(self, tag, _):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def rows(html, title):
    """Return the cells of the table rows whose head is `title`, without tags."""
    found = re.findall(rf"<tr><th [^>]*>{re.escape(title)}</th>(.*?)</tr>", html)
    return [re.sub("<[^>]*>", "", row.replace("</td>", "|")).removesuffix("|").split("|") for row in found]


@pytest.mark.parametrize("name", RESULTS)
def test_the_html_is_nested_and_holds_no_text_as_a_tag(name):
    read = Reader(RESULTS[name]._repr_html_())
    assert not read.open
    assert read.tags <= {
        *("div", "p", "b", "small", "code", "span", "details", "summary", "table", "thead", "tbody")
    } | {*("tr", "th", "td", "svg", "rect", "path", "text")}
    assert "\u202e" not in RESULTS[name]._repr_html_()


def test_a_comparison_shows_its_scores_verdicts_and_worst_faults():
    html = COMPARISON._repr_html_()
    assert rows(html, "f1q of the entries") == [[" 0.69"]]
    assert rows(html, "entries") == [["0.69", "0.57", "0.86", "0.86", "2", "3", "2"]]
    assert re.findall(r"</span>&nbsp;(\d+)&nbsp;(\w+)", html) == [
        *[("3", "correct"), ("1", "close"), ("1", "missing"), ("2", "spurious")]
    ]
    faults = re.findall(r"<tr><th [^>]*>(/\d[^<]*)</th><td [^>]*>(\w+)</td>", html)
    assert faults == [
        ("/2/name", "spurious"),
        ("/2/pages/0", "spurious"),
        ("/0/pages/1", "missing"),
        ("/1/name", "close"),
    ]
    assert "⟨U+202E⟩" in html
    assert "&lt;script&gt;Harold" in html
    assert COMPARISON.signature.short in html


def test_an_evaluation_shows_intervals_and_the_worst_documents():
    html = EVALUATION._repr_html_()
    interval = EVALUATION.interval("f1q")
    assert "6 documents, 1 failed" in html
    assert rows(html, "f1q") == [[f" {interval.estimate:.2f} ({interval.low:.2f} to {interval.high:.2f})", "0.64"]]
    assert rows(html, "&lt;lost&gt;") == [["0.00", "0.00", "failed"]]
    assert rows(html, "/*/pages/*")[0] == ["0.64"]


def test_a_ranking_shows_its_systems_and_their_differences():
    html = RESULTS["ranking"]._repr_html_()
    assert "f1q, macro; documents: 6" in html
    assert len(rows(html, "&lt;b&gt;first&lt;/b&gt;")) + len(rows(html, "second")) >= 2
    assert "signature of" in html


def test_an_alignment_shows_a_line_for_each_pair():
    html = RESULTS["alignment"]._repr_html_()
    assert "2 matched, 0 missing, 1 spurious" in html
    assert html.count("<path ") == 2
    assert len(re.findall(r'<text [^>]*fill="#9d70c0"[^>]*>2</text>', html)) == 1
    long = PEOPLE.compare(gold=GOLD * 30, predicted=GOLD * 30).alignment("")._repr_html_()
    assert "first 40 items" in long
    assert long.count("<text ") == 80


def test_a_comparator_shows_its_settings():
    html = PEOPLE._repr_html_()
    assert "Distance: metric" in html
    assert rows(html, "/*/name") == [["string", "yujian-bo", "1.00", "", ""]]
    assert "Why" in arbitre.Comparator({"type": "string"}, distance="levenshtein")._repr_html_()
