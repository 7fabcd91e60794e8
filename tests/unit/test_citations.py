"""Every source that a page or docstring cites as (Name, year) is listed in docs/citation.md."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from arbitre.distances.builtin_distances import catalogue as distances
from arbitre.matching.builtin_matchers import catalogue as matchings

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
LISTED = ROOT / "docs" / "citation.md"

YEAR = re.compile(r"(?:1[89]|20)\d\d\b")
NAME = r"[A-ZÀ-ÖØ-Þ][\w'-]+"
CITED = re.compile(rf"(?P<names>{NAME}(?:(?:,? and |,? & |, | ){NAME})*)(?: et al\.)?,? \(?(?P<year>{YEAR.pattern})\)?")
"""Names and a year: "Kuhn, 1955", "Brauer, Clason, Lorenz and Wirth, 2017", "Feydy et al. (2019)"."""
ENTRY = re.compile(r"^- (?P<names>.+?) \((?P<year>\d{4})\)\. (?P<rest>.+?)(?=^- |^\*\*|\Z)", re.MULTILINE | re.DOTALL)
DOI = re.compile(r"doi:\[(?P<shown>10\.\d{4,}/\S+?)\]\(https://doi\.org/(?P<target>\S+?)\)\.")

MONTHS = {
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
}


@cache
def entries():
    return list(ENTRY.finditer(LISTED.read_text(encoding="utf-8")))


def texts():
    """The pages, the docstrings, and the sources that the catalogues name, each with where it stands."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        if page != LISTED:
            yield page.name, re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for file in sorted((ROOT / "src").rglob("*.py")):
        source = file.read_text(encoding="utf-8")
        if not YEAR.search(source):  # no citation: not worth a syntax tree
            continue
        for node in ast.walk(ast.parse(source)):
            if (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                prose = [line for line in node.value.value.splitlines() if not line.lstrip().startswith((">>>", "..."))]
                yield f"{file.name}:{node.lineno}", "\n".join(prose)
    for catalogue in (distances, matchings):
        for name, entry in catalogue.entries.items():
            yield name, entry.source or ""


def citations(text):
    """The last names and the year of every citation in a text."""
    for found in CITED.finditer(re.sub(r"\s+", " ", text)):
        names = [name for name in re.split(r",? and |,? & |, ", found["names"]) if name not in MONTHS]
        if names:
            yield tuple(names), found["year"]


def listed(names, year):
    """Whether an entry of that year names all of these authors; "Li Yujian" is any of its words."""
    return any(
        entry["year"] == year and all(any(word in entry["names"] for word in name.split()) for name in names)
        for entry in entries()
    )


def test_every_citation_has_a_reference():
    cited = {(names, year): place for place, text in texts() for names, year in citations(text)}
    assert len(cited) > 50
    assert {one: place for one, place in cited.items() if not listed(*one)} == {}


def test_no_reference_is_listed_twice():
    keys = [(entry["names"], entry["year"]) for entry in entries()]
    assert len(keys) == len(set(keys))


def test_dois_are_well_formed_and_equal_their_links():
    text = LISTED.read_text(encoding="utf-8")
    found = list(DOI.finditer(text))
    assert len(found) == text.count("doi.org/") == text.count("doi:[")
    assert len(found) >= 36
    for doi in found:
        assert doi["target"].replace("%28", "(").replace("%29", ")") == doi["shown"]
    assert len({doi["shown"] for doi in found}) == len(found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("by sorting (Kuhn, 1955).", [(("Kuhn",), "1955")]),
        ("Feydy et al. (2019) say", [(("Feydy",), "2019")]),
        ("(Brauer, Clason, Lorenz and\nWirth, 2017)", [(("Brauer", "Clason", "Lorenz", "Wirth"), "2017")]),
        ("Jaccard, 1901; Ukkonen, 1992", [(("Jaccard",), "1901"), (("Ukkonen",), "1992")]),
        ("on 3 November 1918", []),
        ("a metric (Li Yujian and Liu Bo, 2007)", [(("Li Yujian", "Liu Bo"), "2007")]),
    ],
)
def test_citations_are_recognised_in_text(text, expected):
    assert list(citations(text)) == expected


def test_a_citation_without_a_reference_is_detected():
    assert not listed(("Nobody",), "1955")
    assert not listed(("Kuhn",), "1956")
    assert listed(("Kuhn",), "1955")
