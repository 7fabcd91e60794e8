"""The scripts and style sheets of both pages are short, complete, and used."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from itertools import chain

import pytest
from tests.unit import test_queue_page, test_report_html

from arbitre.inputs.csv_table import BOOLEANS
from arbitre.language import catalogue
from arbitre.report.render import SCRIPT, STYLE
from arbitre.report.standalone import QUEUE_SCRIPT, QUEUE_STYLE

pytestmark = pytest.mark.slow

PAGE = files("arbitre.report").joinpath("page")
LONGEST = 400
"""Maximum number of lines of a file."""
MAKERS = ("render", "charts")
"""Modules that write elements of the report."""
DECLARED = re.compile(r"^(?:const|let|class|(?:async )?function\*?) (\w+|[\[{][^=]*[\]}] =)", re.MULTILINE)


def read(file):
    return PAGE.joinpath(*file.split("/")).read_text(encoding="utf-8")


def declared(script):
    """The names that a script declares at its top level, also those of patterns such as `{ kept, keep: store }`."""
    for name in DECLARED.findall(script):
        yield from re.findall(r"(\w+)(?=\s*[,\]}=])", name) if name[0] in "[{" else [name]


@dataclass(frozen=True)
class PageFiles:
    """The files of a page, in their order, and a function that renders the page."""

    scripts: tuple[str, ...]
    styles: tuple[str, ...]
    templates: tuple[str, ...]
    rendered: object

    @cached_property
    def text(self):
        return self.rendered()

    @cached_property
    def names(self):
        """The names that each script declares."""
        return {file: list(declared(read(file))) for file in self.scripts}

    @cached_property
    def script(self):
        return "".join(map(read, self.scripts))

    @cached_property
    def words(self):
        """The words of all files that can name a class."""
        modules = [files("arbitre.report").joinpath(f"{name}.py").read_text(encoding="utf-8") for name in MAKERS]
        return set(re.findall(r"[\w-]+", "".join([self.script, *map(read, self.templates), *modules])))


SECTIONS = sorted(f"sections/{file.name}" for file in PAGE.joinpath("sections").iterdir())
REPORT = PageFiles(
    tuple(f"script/{name}.js" for name in SCRIPT),
    tuple(f"style/{name}.css" for name in STYLE),
    ("report.html.j2", *SECTIONS),
    test_report_html.made,
)
QUEUE = PageFiles(
    tuple(f"{name}.js" for name in QUEUE_SCRIPT),
    tuple(f"{name}.css" for name in QUEUE_STYLE),
    ("queue.html.j2",),
    test_queue_page.page,
)
PAGES = pytest.mark.parametrize("page", [REPORT, QUEUE], ids=["report", "queue"])


@PAGES
def test_the_files_are_short_documented_and_included(page):
    for file in (*page.scripts, *page.styles):
        held = read(file)
        assert held in page.text, file
        assert re.match(r"// \w.+\.\n\n|/\* \w.+\. \*/\n", held), file
        assert len(held.splitlines()) <= LONGEST, file


def test_every_file_belongs_to_a_page():
    used = {*REPORT.scripts, *REPORT.styles, *QUEUE.scripts, *QUEUE.styles}
    held = {f"{room}/{file.name}" for room in ("script", "style", "queue") for file in PAGE.joinpath(room).iterdir()}
    assert held == used


@pytest.mark.parametrize(
    ("script", "names"),
    [
        ("const one = 1;\n  const inner = 2;\nlet two = 3;\nfunction three() {}\n", ["one", "two", "three"]),
        ("const [a, b] = c;\nconst { d, e: f } = g;\n", ["a", "b", "d", "f"]),
    ],
)
def test_declared_names_are_found(script, names):
    assert list(declared(script)) == names


@PAGES
def test_scripts_declare_each_name_once(page):
    names = list(chain.from_iterable(page.names.values()))
    assert len(names) > 150
    assert sorted({name for name in names if names.count(name) > 1}) == []


@PAGES
def test_scripts_use_only_earlier_ones(page):
    later = [
        (earlier, name)
        for place, file in enumerate(page.scripts)
        for earlier in page.scripts[:place]
        for name in page.names[file]
        if re.search(rf"(?<![.\w]){name}" + (r"\b" if name.isupper() else r"\("), read(earlier))
        and not re.search(rf"const {name}\b", read(earlier))  # a local name
    ]
    assert later == []


@PAGES
def test_the_strings_of_the_scripts_are_in_the_page(page):
    strings = test_report_html.Read(page.text).data["strings"]
    assert strings.keys() <= catalogue().keys()
    quoted = set(re.findall(r"[\"`]([a-z_]+\.[\w. ]+)[\"`]", page.script)) & catalogue().keys()
    asked = quoted | set(re.findall(r"say\(\"([\w. ]+)\"", page.script))
    begun = tuple(set(re.findall(r"say\(`([\w. ]+\.)\$\{", page.script)) - {"advice."})  # only of the found kinds
    composed = {name for name in catalogue() if name.startswith(begun)}
    assert len(asked) > 80
    assert (asked | composed) - strings.keys() == set()


def test_the_page_reads_the_same_words_as_booleans():
    words = re.findall(r'\["(true|false)", "([A-Z ]+)"\]', read("script/decisions_file.js"))
    assert {word: raw == "true" for raw, listed in words for word in listed.split()} == BOOLEANS


def test_every_class_of_the_style_sheets_is_used():
    styled = {
        (file, name)
        for file in {*REPORT.styles, *QUEUE.styles}
        for name in re.findall(r"\.([a-z][\w-]*)(?=[^{}]*\{)", read(file))
        if not re.fullmatch(r"(d|in|q|b|s)\d+|v-\w+", name)  # composed
    }
    used = {(file, word) for page in (REPORT, QUEUE) for file in page.styles for word in page.words}
    assert len(styled) > 100
    assert styled - used == set()
