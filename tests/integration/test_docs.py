"""The README and the pages of `docs/`: every example runs, every link works, and every option and name is listed."""

from __future__ import annotations

import doctest
import json
import re
import shlex
from itertools import zip_longest
from pathlib import Path
from types import FunctionType

import pytest
import typer.main
from typer.testing import CliRunner

import arbitre
from arbitre import bundled, normalizers
from arbitre.cli import COMMANDS, app
from arbitre.cli.declarations import GROUPS
from arbitre.cli.output import progress
from arbitre.comparison.node_tree import Verdict
from arbitre.corpus.evaluation import EVALUATION
from arbitre.distances.builtin_distances import catalogue as distances
from arbitre.jobs import result_files
from arbitre.matching.builtin_matchers import catalogue as matchings
from arbitre.tally import NAMES

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
WIDTH = "90"

FENCED = re.compile(
    r"(?:^`(?P<file>[\w./-]+)`\u00a0?:\n\n)?^```(?P<language>\w*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\n]+)`")
SIGNATURE = re.compile(r"signature [0-9a-f]{12}\|version:\S+")

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
CHECKER = doctest.OutputChecker()

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


def read(page):
    return page.read_text(encoding="utf-8")


def prose(page):
    return FENCED.sub("", read(page))


def section(page, title):
    """The text under a heading, up to the next one that is not below it."""
    found = re.search(rf"^(#+) {re.escape(title)}\n(.*?)(?=^#{{1,2}} |\Z)", read(DOCS / page), re.MULTILINE | re.DOTALL)
    assert found, f"{page} has no heading {title!r}"
    return found[2] if found[1] == "##" else re.split(r"^#", found[2], flags=re.MULTILINE)[0]


def rows(text):
    """The cells of every row of the tables in a text, without heads."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    rules = {number for number, row in enumerate(cells) if set("".join(row)) <= set("-: ")}
    return [row for number, row in enumerate(cells) if number not in rules and number + 1 not in rules]


def names(text):
    """The names in backticks in the first column of the tables in a text."""
    return [name for row in rows(text) for name in CODE.findall(row[0])]


def plain(text):
    """A text without blanks at the ends of lines; the digest of a signature stands for any."""
    return SIGNATURE.sub("signature", "".join(f"{line.rstrip()}\n" for line in text.splitlines()))


def typed(body, said):
    """Run the commands of a console block, and hold what they print against what is shown."""
    for shown in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        line, _, expected = shown.partition("\n")
        command, *arguments = shlex.split(line)
        if (command, arguments) == ("echo", ["$?"]):
            assert f"{said[-1].exit_code}\n" == expected
            continue
        assert command == "arbitre"
        result = CliRunner().invoke(app, arguments)
        assert isinstance(result.exception, SystemExit | None), result.exception
        assert CHECKER.check_output(plain(expected), plain(result.output), doctest.ELLIPSIS), result.output
        said.append(result)


@each_page
def test_every_example_runs_as_shown(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("COLUMNS", WIDTH)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(progress, "SECONDS", 3600.0)  # a slow machine prints no progress
    variables, said = {}, []
    runner = doctest.DocTestRunner(CHECKER, verbose=False, optionflags=FLAGS)
    for block in FENCED.finditer(read(page)):
        body, line = block["body"], read(page).count("\n", 0, block.start("body"))
        if block["file"]:
            if block["file"].endswith(".json"):
                json.loads(body)
            Path(block["file"]).write_text(body, encoding="utf-8")
        elif block["language"] == "console":
            typed(body, said)
        elif block["language"] == "python":
            test = doctest.DocTestParser().get_doctest(body, variables, page.name, str(page), line)
            assert test.examples, f"{page.name}:{line}: Python is shown as it is typed, with >>>"
            failed = []
            runner.run(test, out=failed.append, clear_globs=False)
            assert not failed, "".join(failed)
            variables = test.globs


FUNCTION = {
    "compare": r"compare\(|side_by_side\(",
    "evaluate": r"evaluate\(",
    "demo": r"evaluate\(|report\(",  # the demo evaluates two systems and writes a report
    "rank": r"rank\(",
    "entities": r"entities\.evaluate\(",
    "agree": r"agree\(",
    "gamma": r"agree_spans\(",
    "consensus": r"consensus\(",
    "leave-one-out": r"leave_one_out\(",
    "diff": r"diff\(",
    "report": r"report\(",
    "figures": r"figures\(",
    "metricity": r"metricity\(",
    "perturb": r"perturb_gold\(",
    "gold apply": r"apply_decisions\(",
    "schema infer": r"infer_schema\(",
    "schema check": r"check_schema\(",
    "schema explain": r"explain\(",
    "schema import": r"import_schema\(",
    "schema suggest-aliases": r"suggest_aliases\(",
    "schema suggest-gate": r"suggest_gate\(",
    "text rouge": r"text\.rouge\(",
    "text bleu": r"text\.bleu_details\(",
    "text perplexity": r"text\.perplexity\(",
    "text corpus": r"evaluation\.text\(",
    "confidence": r"confidence\.report\(",
    "advise": r"advise\(",
}
"""What the Python form of each command calls."""
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?!\w|\.\d)")


def shown_again(number, among):
    """Whether a number is one of these, all as texts, up to the digits that both have."""
    digits = [len(figure.partition(".")[2]) for figure in (number, *among)]
    pairs = zip(among, digits[1:], strict=True)
    return any(abs(float(number) - float(figure)) <= 0.5000001 * 10.0 ** -min(digits[0], own) for figure, own in pairs)


def without_python(text):
    """The commands on a page whose next block is not their Python form with the same figures.

    Each decimal number of the Python block is in the output of the commands, unless that is shown in part. A block with
    decimal numbers repeats at least one of them, any other block at least one word.
    """
    blocks = list(FENCED.finditer(text))
    for block, following in zip_longest(blocks, blocks[1:]):
        if block["language"] != "console":
            continue
        typed = [line.partition("\n")[::2] for line in re.split(r"^\$ ", block["body"], flags=re.MULTILINE)[1:]]
        lines = [line for line, _ in typed if line.startswith("arbitre ")]
        output = "".join(output for line, output in typed if line in lines)
        source = following["body"] if following and following["language"] == "python" else ""
        values = "".join(example.want for example in doctest.DocTestParser().get_examples(source))
        figures, known = [figure for figure in NUMBER.findall(values) if "." in figure], NUMBER.findall(output)
        repeated = [figure for figure in figures if shown_again(figure, known)]
        if any("." in figure for figure in known):
            same = bool(repeated) and (repeated == figures or "\n...\n" in f"\n{output}")
        else:
            same = not output.strip() or bool(set(re.findall(r"\w+", output)) & set(re.findall(r"\w+", values)))
        for line in lines:
            words = shlex.split(line)[1:]
            name = " ".join(words[: 1 + (words[0] in GROUPS)])
            if not same or not re.search(FUNCTION[name], source):
                yield line


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.parent in {ROOT, DOCS, DOCS / "reference"}], ids=lambda page: page.stem
)
def test_every_command_is_followed_by_python_with_the_same_figures(page):
    """Guides are shorter, and the French one is for readers who do not program."""
    assert not list(without_python(read(page)))


def test_an_example_with_other_output_is_detected():
    with pytest.raises(AssertionError):
        typed("$ arbitre --version\narbitre 17\n", [])
    page = "```console\n$ arbitre schema explain s.json\n/a  0.5\n```\n\n```python\n>>> explain({})\n{}\n```\n"
    assert [*without_python(page.format("", "0.5"))] == [] != [*without_python(page.format("", "0.6"))]
    assert [*without_python(page.format("", "0.5").replace("python", "text"))] == ["arbitre schema explain s.json"]
    assert names("| name | of |\n|---|---|\n| `a`, `b` | `c` |\n") == ["a", "b"]


@each_page
def test_every_link_has_a_target(page):
    for link in LINK.findall(prose(page)):
        if link.startswith("https://"):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.is_file(), link
        assert page.parent == ROOT or target.is_relative_to(DOCS), f"{link} leaves the folder of the pages"
        if anchor:
            titles = re.findall(r"^#+ (.+)$", prose(target), re.MULTILINE)
            assert anchor in [*map(slug, titles), *re.findall(r'<a id="([\w-]+)">', read(target))], link


def slug(title):
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower())


def commands(command=None, path=()):
    """Every command by its words, with the options it takes."""
    if command is None:
        command = typer.main.get_command(app)
        for name in COMMANDS:  # a command is imported when it is called
            command.resolve_command(typer.Context(command), [name])
    below = getattr(command, "commands", {})
    found = {path: {name for one in command.params for name in one.opts if name.startswith("-")} - {"--help"}}
    for name, inner in below.items():
        found |= commands(inner, (*path, name))
    return found


@each_page
def test_every_command_in_the_text_exists(page):
    known = commands()
    for code in CODE.findall(prose(page)):
        words = code.split()
        if words[0] != "arbitre" or len(words) == 1:
            continue
        path, rest = (), words[1:]
        if rest[0] == "--config":
            rest = rest[2:]
        for word in rest:
            if (*path, word) not in known:
                break
            path = (*path, word)
        options = {word.partition("=")[0] for word in rest if word.startswith("-") and word != "-"}
        assert path or options, code
        assert options <= known[path] | {"--help", "--help-all"}, code


def test_the_reference_has_every_command_and_option():
    for path, options in commands().items():
        if path and path not in {(group,) for group in GROUPS}:
            assert set(names(section("reference/commands.md", f"arbitre {' '.join(path)}"))) == options, path


@pytest.mark.parametrize(
    ("page", "catalogue"),
    [("distances", distances), ("normalisers", normalizers.catalogue), ("matchings", matchings)],
    ids=["distances", "normalisers", "matchings"],
)
def test_the_reference_has_every_name_and_its_options(page, catalogue, docs_script):
    listed = {CODE.findall(row[0])[0]: row[1] for row in rows(read(DOCS / "reference" / f"{page}.md"))}
    written = docs_script("make_reference").choices
    assert listed == {name: written(entry) for name, entry in catalogue.entries.items()}


def test_the_reference_states_which_distances_are_metrics(docs_script):
    examples = docs_script("make_reference").DISTANCE_EXAMPLES
    for row in rows(read(DOCS / "reference" / "distances.md")):
        name = CODE.findall(row[0])[0]
        facts = distances.build({name: examples[name][0]}).facts
        assert row[3].partition(":")[0] == ("yes" if facts.metric else "pseudo" if facts.pseudometric else "no"), name
        assert facts.range == (0.0, 1.0), "the page says that all distances have this range"


def test_the_reference_states_which_matchings_keep_a_metric():
    listed = {CODE.findall(row[0])[0]: row[3] for row in rows(read(DOCS / "reference" / "matchings.md"))}
    assert listed.keys() == matchings.entries.keys()
    for name, said in listed.items():
        choice = {"keyed": {"keyed": {"key": "id"}}}.get(name, name)
        matcher = matchings.build(choice)
        kept = ("yes" if matcher.separating else "pseudo") if matcher.metric else "no"
        assert said.partition(";")[0] == kept, name


def test_the_reference_has_every_key_of_the_vocabulary():
    keys = list(bundled.schema("vocabulary.schema.json")["properties"])
    assert names(section("reference/keyword.md", "The x-arbitre keyword")) == keys


def test_every_score_and_verdict_is_explained():
    assert set(names(section("measures.md", "The scores"))) == set(NAMES)
    assert names(section("measures.md", "Verdicts and shares")) == [verdict.text for verdict in Verdict]


def test_the_reference_has_every_public_name():
    text = read(DOCS / "reference" / "python.md")
    said = {re.split(r"\W", code.removeprefix("Signature.").removeprefix("Tally."))[0] for code in CODE.findall(text)}
    public = set(arbitre.__all__)
    for kind in (arbitre.Comparator, arbitre.Comparison, arbitre.Evaluation, arbitre.Scores):
        own = [vars(base) for base in kind.__mro__ if base.__module__.startswith("arbitre.")]
        members = {name: member for each in own for name, member in each.items() if not name.startswith("_")}
        public |= {
            name for name, member in members.items() if isinstance(member, (FunctionType, classmethod, property))
        }
    assert public - said <= {"levels"}  # the records that all else is made of; no promise is made of them


def test_the_reference_has_every_file():
    files = {
        EVALUATION,
        result_files.DOCUMENTS,
        result_files.PATHS,
        *result_files.ROW_FILES,
        result_files.VIOLATIONS,
        result_files.RESULTS,
    }
    files |= {result_files.FAILURES, result_files.FAILURE_LINES}
    assert files == set(names(section("reference/files.md", "Output")))


def test_the_pages_are_in_the_navigation():
    listed = re.findall(r"^ +- [^:]+: (\S+\.md)$", (DOCS / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))


def test_the_changelog_begins_with_this_version():
    text = read(DOCS / "changelog.md")
    assert re.search(r"^## (\S+)", text, re.MULTILINE)[1] == arbitre.__version__


def test_the_readme_has_less_than_100_lines():
    assert len(read(ROOT / "README.md").splitlines()) < 100
