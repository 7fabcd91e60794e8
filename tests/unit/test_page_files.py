"""The scripts and style sheets of both pages are short, complete, and used."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from importlib.resources import files
from itertools import chain

import pytest
from tests.unit import test_queue_page, test_report_html

from arbitre.inputs.csv_table import BOOLEANS
from arbitre.language import catalogue
from arbitre.report.standalone import parts

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

    name: str
    rendered: object

    @cached_property
    def scripts(self):
        return parts(self.name, "js")

    @cached_property
    def styles(self):
        return parts(self.name, "css")

    @cached_property
    def templates(self):
        return parts(self.name, "j2")

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

    def users(self, file):
        """The scripts that use a name that this script defines."""
        uses = re.compile(
            "|".join(rf"(?<![.\w]){name}" + (r"\b" if name.isupper() else r"\(") for name in self.names[file])
        )
        local = "const {}\\b".format
        return {
            other
            for other in self.scripts
            if other != file
            and any(not re.search(local(found.rstrip("(")), read(other)) for found in uses.findall(read(other)))
        }


REPORT = PageFiles("report", test_report_html.made)
QUEUE = PageFiles("queue", test_queue_page.page)
PAGES = pytest.mark.parametrize("page", [REPORT, QUEUE], ids=["report", "queue"])


@PAGES
def test_the_files_are_short_documented_and_included(page):
    for file in (*page.scripts, *page.styles):
        held = read(file)
        assert held in page.text, file
        assert re.match(r"// \w.+\.\n\n|/\* \w.+\. \*/\n", held), file
        assert len(held.splitlines()) <= LONGEST, file


def test_every_file_belongs_to_a_page():
    used = {file for page in (REPORT, QUEUE) for file in (*page.scripts, *page.styles, *page.templates)}
    held = {f"{room.name}/{file.name}" for room in PAGE.iterdir() for file in room.iterdir()}
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
def test_shared_scripts_do_not_depend_on_a_page_and_no_scripts_depend_on_each_other(page):
    users = {file: page.users(file) for file in page.scripts}
    own = [file for file in page.scripts if not file.startswith("shared/")]
    assert [(file, other) for file in own for other in users[file] if other.startswith("shared/")] == []
    assert len(tuple(TopologicalSorter(users).static_order())) == len(page.scripts)


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
    words = re.findall(r'\["(true|false)", "([A-Z ]+)"\]', read("report/decision_files.js"))
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


@PAGES
def test_the_shared_style_is_used_by_both_pages(page):
    own = [read(file) for file in (*page.scripts, *page.templates)]
    shared = [read(file) for file in page.styles if file.startswith("shared/")]
    classes = set(re.findall(r"\.([a-z][\w-]*)(?=[^{}]*\{)", "".join(shared)))
    assert len(classes) > 20
    assert classes - set(re.findall(r"[\w-]+", "".join(own))) == set()
