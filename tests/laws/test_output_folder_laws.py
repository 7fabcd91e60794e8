"""Laws of everything that writes: no file of the user is lost, whatever fails.

As in the tests of SQLite, every operation on files may fail or be the last one before the process is killed.
"""

from __future__ import annotations

import builtins
import errno
import io
import json
import os
import shutil
import sys
import tempfile
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import arbitre
from arbitre import agreement
from arbitre.cli import app
from arbitre.errors import ArbitreError, DataError
from arbitre.report import figures
from arbitre.storage.output_folder import (
    CHECKPOINT,
    LOCK,
    MARKER,
    SINGLE_FILES,
    STAGING,
    output_folder,
    output_text_file,
)

PEOPLE = {"type": "object", "properties": {"people": {"type": "array", "items": {"properties": {"name": {}}}}}}
RECORDS = {
    "gold": [{"id": "p1", "people": [{"name": "Ada"}, {"name": "Bo"}]}, {"id": "p2", "people": [{"name": "Cy"}]}],
    "careful": [{"id": "p1", "people": [{"name": "Ada"}, {"name": "Bo"}]}, {"id": "p2", "people": []}],
    "hasty": [{"id": "p1", "people": [{"name": "Eve"}]}],
}


class Killed(BaseException):
    """Simulates the end of the process: no file changes afterwards."""


class Faults:
    """Counts the operations that change files in a folder, and lets one of them fail, or kills the process there."""

    def __init__(self):
        self.root, self.kind, self.left, self.done = None, None, 0, 0

    @contextmanager
    def injected(self, root, kind=None, at=0):
        self.root, self.kind, self.left, self.done = str(root), kind, at, 0
        try:
            yield
        finally:
            self.root = None

    def happens(self):
        self.done += 1
        self.left -= 1
        if self.kind == "kill" and self.left <= 0:
            raise Killed
        if self.kind == "error" and self.left == 0:
            raise OSError(errno.ENOSPC, "No space left on device")

    def audit(self, event, arguments):
        if self.root is None or event not in EVENTS:
            return
        if event == "open" and not (arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)):
            return
        if any(isinstance(path, str | os.PathLike) and os.fspath(path).startswith(self.root) for path in arguments):
            self.happens()


EVENTS = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link"}
FAULTS = Faults()
sys.addaudithook(FAULTS.audit)


class FaultyFile(io.FileIO):
    """File whose writes may fail in the middle."""

    def write(self, data):
        try:
            FAULTS.happens()
        except BaseException:
            super().write(bytes(data)[: len(data) // 2])
            raise
        return super().write(data)


def faulty_open(file, mode="r", *arguments, **options):
    """`open`, with writes that may fail."""
    watched = FAULTS.root is not None and isinstance(file, str | os.PathLike)
    if not watched or not {*mode} & set("wxa") or not os.fspath(file).startswith(FAULTS.root):
        return OPEN(file, mode, *arguments, **options)
    written = io.BufferedWriter(FaultyFile(file, mode.replace("b", "").replace("t", "")))
    return written if "b" in mode else io.TextIOWrapper(written, *arguments[1:], **options)


OPEN = builtins.open


@pytest.fixture(autouse=True, scope="module")
def faulty_writes():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(builtins, "open", faulty_open)
        patched.setattr(io, "open", faulty_open)
        patched.setattr(figures, "_converter", Converter)
        patched.setattr(figures, "ordered_pdf", lambda pdf: pdf)
        yield


class Converter:
    """Returns every drawing as it is."""

    svg_to_pdf = svg_to_png = staticmethod(lambda svg, **_: svg.encode())


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The inputs of the commands: a schema, documents and results."""
    folder = tmp_path_factory.mktemp("sources")
    (folder / "schema.json").write_text(json.dumps(PEOPLE))
    for name, records in RECORDS.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    arbitre.evaluate(PEOPLE, gold=folder / "gold.jsonl", predicted=folder / "hasty.jsonl", out=folder / "results")
    return folder


def evaluate(sources, out, *, force, **options):
    schema, gold, predicted = (sources / name for name in ("schema.json", "gold.jsonl", "hasty.jsonl"))
    arbitre.evaluate(schema, gold=gold, predicted=predicted, out=out, force=force, **options)


def rank(sources, out, *, force):
    systems = {name: sources / f"{name}.jsonl" for name in ("careful", "hasty")}
    arbitre.rank(systems, schema=sources / "schema.json", gold=sources / "gold.jsonl", out=out, force=force)


def demo(_sources, out, *, force):
    """Without causes: `evaluate` writes those too."""
    result = CliRunner().invoke(app, ["demo", "--out", str(out), "--quiet", "--no-diagnose", *["--force"] * force])
    if isinstance(result.exception, Killed):
        raise result.exception
    if result.exit_code:
        raise DataError.of(result.stderr)


def annotators(sources):
    return {name: sources / f"{name}.jsonl" for name in ("gold", "careful")}


FOLDERS = {
    "evaluate": evaluate,
    "evaluate --resume": lambda sources, out, force: evaluate(sources, out, force=force, resume=True, no_report=True),
    "evaluate --table": lambda sources, out, force: evaluate(
        sources, out, force=force, table="paths.md", no_report=True
    ),
    "rank": rank,
    "demo": demo,
    "save": lambda sources, out, force: arbitre.load(sources / "results").save(out, force=force),
    "consensus --out": lambda sources, out, force: agreement.consensus(
        sources / "schema.json", annotators(sources), out=out, force=force
    ),
    "consensus --queue": lambda sources, out, force: agreement.consensus(
        sources / "schema.json", annotators(sources), queue=out, force=force
    ),
    "figures": lambda sources, out, force: arbitre.write_figures(sources / "results", out, force=force),
    "metricity": lambda sources, out, force: arbitre.entry_metricity(
        sources / "schema.json",
        gold=sources / "gold.jsonl",
        predicted=sources / "hasty.jsonl",
        out=out,
        force=force,
    ),
    "entities": lambda _sources, out, force: arbitre.entities.evaluate(
        [["B-a", "O"]], [["B-a", "O"]], out=out, force=force
    ),
}
FILES = {
    "report": lambda sources, out, force: arbitre.write_report(sources / "results", out, force=force),
    "schema infer": lambda sources, out, force: arbitre.infer_schema(sources / "gold.jsonl", out=out, force=force),
    "perturb": lambda sources, out, force: arbitre.perturb_gold(sources / "gold.jsonl", out=out, force=force),
    "suggest-aliases": lambda sources, out, force: arbitre.suggest_aliases(
        sources / "schema.json", gold=sources / "gold.jsonl", predicted=sources / "hasty.jsonl", out=out, force=force
    ),
    "consensus": lambda sources, out, force: agreement.consensus(
        sources / "schema.json", annotators(sources), out=out.with_suffix(".jsonl"), force=force
    ),
    "consensus --queue": lambda sources, out, force: agreement.consensus(
        sources / "schema.json", annotators(sources), queue=out.with_suffix(".csv"), force=force
    ),
}

NAMES = (
    *("notes.txt", "report.html", "gold.jsonl", "evaluation.json", "matches.csv", "p1.json", "queue.csv"),
    *("survival.svg", "metricity.json", "ranking.json", "paths.md", "careful.jsonl", "results.npz"),
    *("documents", "documents/thesis.tex", "documents/000000000.jsonl", "documents/deep/er.txt"),
    *("careful", "careful/notes.txt", "careful/evaluation.json", "hasty/documents/000000000.jsonl"),
    *(MARKER, f"{MARKER}/x", LOCK, SINGLE_FILES, f"careful/{MARKER}", f"{STAGING}/notes.txt"),
    *(f"{STAGING}/evaluation.json", f"{STAGING}/documents/000000000.jsonl", f"{STAGING}/documents/mine.txt"),
)
"""Names of files of the user's, most of them names that arbitre uses."""
UNFINISHED = {f"{STAGING}/evaluation.json", f"{STAGING}/documents/000000000.jsonl"}
"""Names that stand for unfinished results in a folder that arbitre created for them."""
LINKS = ("outside", "outside/secret.txt", "outside/nothing")
CONTENT = st.sampled_from((b"mine\n", b"mine, too\n", b"arbitre output folder, format 1\n\n"))
TREES = st.dictionaries(st.sampled_from(NAMES), CONTENT | st.sampled_from(LINKS), max_size=4)
LATER = TREES.map(lambda tree: {name: content for name, content in tree.items() if name not in UNFINISHED})
KINDS = st.sampled_from((None, "error", "error", "kill", "kill"))


def add(folder, tree):
    """Write the user's files and links to a folder; return them all."""
    for name, content in tree.items():
        path = folder / name
        with suppress(FileExistsError, NotADirectoryError):
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir() or path.parent.resolve() != folder.resolve() / Path(name).parent:
                continue  # a folder, or below a link
            path.unlink(missing_ok=True)
            if isinstance(content, str):
                path.symlink_to(folder.parent / content)
            else:
                path.write_bytes(content + b"of the user\n")
    return {name: content for name, content in present(folder).items() if name in tree or content[:4] == b"link"}


def present(folder):
    """Return all files and links below a folder, without following links."""
    if not folder.is_dir():
        return {}
    paths = [Path(at, name) for at, folders, files in os.walk(folder) for name in (*folders, *files)]
    return {
        path.relative_to(folder).as_posix(): b"link" + os.fsencode(path.readlink())
        if path.is_symlink()
        else path.read_bytes()
        for path in paths
        if path.is_symlink() or path.is_file()
    }


def without_parts(folder):
    """Return what is present, without temporary files of single files whose process was killed."""
    return {
        name: content
        for name, content in present(folder).items()
        if not name.startswith(".arbitre-") or name[-5:] != ".part"
    }


@contextmanager
def base():
    """A folder with another one of the user's, to which links lead."""
    folder = Path(tempfile.mkdtemp(prefix="arbitre-law-"))
    try:
        (folder / "outside").mkdir()
        (folder / "outside" / "secret.txt").write_bytes(b"secret\n")
        yield folder
    finally:
        shutil.rmtree(folder)


def kept(folder, mine):
    found = present(folder)
    assert {name: found.get(name) for name in mine} == mine
    assert present(folder.parent / "outside") == {"secret.txt": b"secret\n"}


def attempt(run, folder, kind, at):
    """Run with a fault; return how it ended."""
    try:
        with FAULTS.injected(folder.parent, kind, at):
            run()
    except ArbitreError as error:
        return error
    except Killed as killed:
        return killed
    return None


def hold(write, expected=None, *, earlier, tree, later, force, kind, at):
    """Check that the user's files survive a run with a fault, and the next runs.

    Args:
        write: Writes to a folder, given whether to write beside other files.
        expected: What it writes to an empty folder.
        earlier: Whether arbitre wrote to the folder before.
        tree: Files that the user then wrote there.
        later: Files that the user writes there after the fault.
        force: Whether to write beside other files.
        kind: The fault: "error", "kill" or None.
        at: Number of the operation at which it happens.
    """
    with base() as above:
        folder = above / "out"
        if earlier:
            write(folder, force=False)
        mine = add(folder, tree)
        before = present(folder)
        ended = attempt(partial(write, folder, force=force), folder, kind, at)
        kept(folder, mine)
        if isinstance(ended, DataError) and FAULTS.done == 0:
            assert present(folder) == before  # refused before anything was touched
        mine = {**mine, **add(folder, later)}
        again = attempt(partial(write, folder, force=force), folder, None, 0)
        kept(folder, mine)
        if not mine:
            assert again is None, again
            if expected is not None:
                assert without_parts(folder) == expected


FOLDER_RUNS = st.fixed_dictionaries(
    {
        "earlier": st.booleans(),
        "tree": st.just({}) | TREES,
        "later": st.just({}) | LATER,
        "force": st.booleans(),
        "kind": KINDS,
        "at": st.integers(1, 60) | st.integers(1, 400),
    }
)


def some_results(folder, *, force, names=("evaluation.json", "report.html"), parts=("careful",), resume=False):
    """Write results like those of a command, without computing anything."""
    own = dict.fromkeys(parts, ("evaluation.json", CHECKPOINT))
    with output_folder(folder, (*names, CHECKPOINT), "ranking", parts=own, resume=resume, force=force) as staging:
        for part in ("", *parts):
            (staging / part / "documents").mkdir(parents=True, exist_ok=True)
            (staging / part / "documents" / "000000000.jsonl").write_bytes(b"results\n")
            (staging / part / "evaluation.json").write_bytes(b"{}\n")
        for name in names[1:]:
            (staging / name).write_text(f"{name}\n", encoding="utf-8")


def one_file(folder, *, force):  # noqa: ARG001  (`output_path` knows it)
    with output_text_file(folder / "evaluation.json") as file:
        file.write("{}\n")


@pytest.mark.parametrize("write", [some_results, one_file], ids=lambda function: function.__name__)
def test_no_file_of_the_user_is_lost(write, request):
    with base() as above:
        write(above / "out", force=False)
        expected = present(above / "out")

    @settings(max_examples=20_000 if request.config.getoption("--nightly") else 60)
    @given(FOLDER_RUNS)
    def law(run):
        hold(write, expected, **run)

    law()


@pytest.mark.parametrize("kind", ["kill", "error"])
@pytest.mark.parametrize("earlier", [False, True])
def test_every_operation_may_be_the_last_or_fail(kind, earlier):
    """For new results and for results that replace others, which the next run completes."""
    with base() as other:
        some_results(other / "out", force=False)
        expected = present(other / "out")
    at, done = 0, 1
    while at <= done:
        at += 1
        with base() as above:
            folder, mine = above / "out", {}
            if earlier:
                some_results(folder, force=False, names=("evaluation.json", "report.html", "paths.md"))
                mine = add(folder, {"notes.txt": b"mine", "careful/notes.txt": b"mine"})
            ended = attempt(partial(some_results, folder, force=False), folder, kind, at)
            done = FAULTS.done if ended is None else done + 1
            assert ended is None or isinstance(ended, Killed if kind == "kill" else DataError), ended
            kept(folder, mine)
            some_results(folder, force=False, resume=bool(at % 2))
            assert present(folder) == {**expected, **mine}
    assert at > 30


@pytest.mark.parametrize(
    ("command", "folder"), [*((name, True) for name in FOLDERS), *((name, False) for name in FILES)]
)
@pytest.mark.filterwarnings("ignore:.*is not replaced")
def test_no_command_loses_a_file_of_the_user(sources, command, folder, request):
    def write(out, *, force):
        if folder:
            FOLDERS[command](sources, out, force=force)
        else:
            FILES[command](sources, out / "evaluation.json", force=force)

    examples = 2 if command == "demo" else 4  # a demo takes longer than all others together

    @settings(max_examples=500 if request.config.getoption("--nightly") else examples)
    @given(FOLDER_RUNS)
    def law(run):
        before = present(sources)
        hold(write, **run)
        assert present(sources) == before

    law()
