"""Every page states the version of this release, and the blocks on how to cite it are made from one declaration."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import arbitre
from arbitre.version import YEAR

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted({*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"} - {ROOT / "docs" / "changelog.md"})
STATED = re.compile(r"\|version:(\d[\w.]*)|\barbitre,? (?:version )?(\d+(?:\.\d+)+)")


@pytest.fixture(scope="module")
def script(docs_script):
    return docs_script("make_citation")


@pytest.fixture(scope="module")
def declared():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def fields(text):
    """The fields of a BibTeX entry without braces."""
    return {name: value.strip("{}") for name, value in re.findall(r"^ +(\w+) += \{(.*)\},?$", text, re.MULTILINE)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_page_states_this_version(page):
    stated = {version for found in STATED.findall(page.read_text(encoding="utf-8")) for version in found if version}
    assert stated <= {arbitre.__version__}


def test_an_old_version_on_a_page_is_found():
    said = "signature ecc83a1c9247|version:0.1.0\narbitre, version 0.1.1 and arbitre 0.1.2"
    assert [a or b for a, b in STATED.findall(said)] == ["0.1.0", "0.1.1", "0.1.2"]


def test_the_page_on_citation_is_made_from_the_declarations(script, declared):
    page = script.PAGE.read_text(encoding="utf-8")
    assert script.citation(page, declared) == page
    assert script.citation(page.replace(f"{{{YEAR}}}", "{1999}"), declared) == page


@pytest.mark.parametrize("address", [None, "https://example.org/arbitre"])
def test_sentence_bibtex_and_cff_agree(script, declared, address):
    yaml = pytest.importorskip("yaml")
    if address:
        declared = declared | {"urls": {"Repository": address}}
    text = script.blocks(declared)
    bibtex = fields(text)
    cff = yaml.safe_load(re.search(r"```yaml\n(.*?)```", text, re.DOTALL)[1])
    url = address or script.NO_ADDRESS
    authors = [author["name"] for author in declared["authors"]]
    assert (bibtex["author"], bibtex["title"]) == (" and ".join(authors), script.TITLE)
    assert (bibtex["version"], bibtex["year"], bibtex["url"]) == (arbitre.__version__, str(YEAR), url)
    assert ([author["name"] for author in cff["authors"]], cff["title"]) == (authors, script.TITLE)
    assert (cff["version"], cff["license"]) == (arbitre.__version__, declared["license"])
    assert cff.get("repository-code") == address
    preferred = cff["preferred-citation"]
    assert {name: preferred[name] for name in ("title", "authors", "version")} == {
        name: cff[name] for name in ("title", "authors", "version")
    }
    assert preferred["year"] == YEAR
    for fact in (*authors, script.TITLE, arbitre.__version__, f"({YEAR})", url):
        assert fact in text.splitlines()[0]
