"""A corpus gives the same bytes in one process, in several, and after a resumed run (for clusters: test_cluster)."""

import errno
import fcntl
import importlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from threading import Lock

import openpyxl
import pytest

from arbitre import Comparator
from arbitre.corpus.checkpoints import Checkpoints, digest_of_functions
from arbitre.corpus.evaluate import ExecutionOptions, evaluate
from arbitre.corpus.executors import ProcessPool
from arbitre.corpus.worker import DocumentResults
from arbitre.errors import ArbitreError, DataError
from arbitre.inputs.join import UNIT_SIZE, join
from arbitre.inputs.options import ReadOptions
from arbitre.inputs.reader import Reader
from arbitre.tables.row_file import EncodedRows

SCHEMA = {
    "type": "object",
    "properties": {
        "entries": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "pages": {"type": "array", "items": {"type": "integer"}, "x-arbitre": {"absent": [[]]}},
                },
            },
        }
    },
}
SIZE = 4 * UNIT_SIZE + 17


def lines(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(path)


def corpus(folder, size=SIZE):
    """Gold and predictions as JSON lines: some predictions lack, some are no JSON that can be compared."""
    rng = random.Random(7)  # noqa: S311

    def entries(number):
        return [
            {"name": "".join(rng.choices("abcde", k=5)), "pages": [rng.randrange(9) for _ in range(number % 3)]}
            for _ in range(number % 5)
        ]

    gold = [{"id": f"d{number:04}", "entries": entries(number)} for number in range(size)]
    predicted = [dict(document, entries=document["entries"][1:] or entries(2)) for document in gold]
    del predicted[5]
    text = [json.dumps(record) for record in predicted]
    text[9] = '{"id": "d0010", "entries": [{"name": NaN}]}'
    (folder / "predicted.jsonl").write_text("\n".join(text) + "\n", encoding="utf-8")
    return lines(folder / "gold.jsonl", gold), str(folder / "predicted.jsonl")


@pytest.fixture(scope="module")
def plan():
    return Comparator(SCHEMA).plan


@pytest.fixture
def joined(tmp_path):
    gold, predicted = corpus(tmp_path)
    reading = ReadOptions()
    return join(Reader.of("gold", reading).records([gold]), Reader.of("predicted", reading).records([predicted]))


def text(evaluation):
    return json.dumps(evaluation.to_dict())


def test_the_number_of_processes_changes_no_byte(plan, joined):
    alone = evaluate(plan, joined)
    assert len(alone.document_table) == SIZE
    assert {failure.reason.split(",")[0] for failure in alone.failures} >= {"no prediction"}
    assert text(evaluate(plan, joined, ExecutionOptions(executor=ProcessPool(2)))) == text(alone)


def test_a_killed_process_is_an_error_with_advice(plan, joined):
    with pytest.raises(ArbitreError, match="killed") as refused:
        evaluate(plan, joined, ExecutionOptions(observers={"deadly": deadly}, executor=ProcessPool(2)))
    assert "--resume" in str(refused.value)


def deadly(_pairs, _levels):
    os.kill(os.getpid(), signal.SIGKILL)
    return []


LEFT = """
import sys
sys.path.insert(0, sys.argv[1])
import test_kill_and_resume

if __name__ == "__main__":
    plan = test_kill_and_resume.Comparator(test_kill_and_resume.SCHEMA).plan
    how = test_kill_and_resume.ExecutionOptions({"sleepy": test_kill_and_resume.Sleepy(sys.argv[2])}, executor=test_kill_and_resume.ProcessPool(2))
    test_kill_and_resume.evaluate(plan, [(str(number), {}, {}) for number in range(4 * test_kill_and_resume.UNIT_SIZE)], how)
"""


@dataclass
class Sleepy:
    """Keeps processes from coming to an end, each with a lock that it holds as long as it lives."""

    folder: str

    def __call__(self, _pairs, _levels):
        with Path(self.folder, str(os.getpid())).open("w", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            time.sleep(60)
        return []


def test_no_process_outlives_the_one_that_was_killed(tmp_path):
    started = subprocess.Popen([sys.executable, "-c", LEFT, str(Path(__file__).parent), str(tmp_path)])
    try:
        assert waited(lambda: list(map(held, tmp_path.iterdir())) == [True, True])
    finally:
        started.kill()
        started.wait()
    assert waited(lambda: list(map(held, tmp_path.iterdir())) == [False, False])


def waited(for_what):
    """Whether something comes true within half a minute."""
    end = time.monotonic() + 30.0
    while not (true := for_what()) and time.monotonic() < end:
        time.sleep(0.02)
    return true


def held(path):
    """Whether a process holds the lock on a file."""
    with path.open("r", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def noted(pairs, _levels):
    return [pair.key for pair in pairs]


def test_stored_work_units_are_not_compared_again(plan, joined, tmp_path):
    alone = evaluate(plan, joined)
    how = ExecutionOptions({"keys": noted}, checkpoints=Checkpoints(tmp_path, plan.signature))
    assert text(evaluate(plan, joined, how)) == text(alone)
    shards = sorted((tmp_path / "documents").iterdir())
    assert [int(path.stem) for path in shards] == list(range(0, SIZE, UNIT_SIZE))
    shards[1].unlink()
    (tmp_path / "documents" / "000000512.jsonl.part").write_text("half a li", encoding="utf-8")
    compared, keys = [], []

    def watched(pairs, _levels):
        compared.extend(pair.key for pair in pairs)
        return [pair.key for pair in pairs]

    how = ExecutionOptions(
        {"keys": watched},
        on_results=lambda outcomes: keys.extend(outcomes.seen["keys"]),
        checkpoints=Checkpoints(tmp_path, plan.signature, resume=True),
    )
    assert text(evaluate(plan, joined, how)) == text(alone)
    assert compared == [f"d{number:04}" for number in range(UNIT_SIZE, 2 * UNIT_SIZE)]
    assert keys == [f"d{number:04}" for number in range(SIZE)]
    assert sorted((tmp_path / "documents").iterdir()) == shards


@pytest.mark.parametrize("change", ["signature", "asked"])
def test_checkpoints_of_other_inputs_are_not_resumed(plan, joined, tmp_path, change):
    evaluate(plan, joined, ExecutionOptions({"keys": noted}, checkpoints=Checkpoints(tmp_path, plan.signature)))
    signature, asked = plan.signature, ()
    if change == "signature":
        signature = Comparator(SCHEMA, close=0.9).plan.signature
    else:
        asked = ("validate",)
    compared = []

    def watched(pairs, _levels):
        compared.extend(pairs)
        return []

    evaluate(
        plan,
        joined,
        ExecutionOptions({"keys": watched}, checkpoints=Checkpoints(tmp_path, signature, asked, resume=True)),
    )
    assert len(compared) == SIZE


def test_only_the_parts_that_contain_changed_documents_are_compared_again(plan, tmp_path):
    records = [{"id": f"d{number:04}", "entries": [{"name": "a"}]} for number in range(SIZE)]
    reading, compared = ReadOptions(), []

    def watched(pairs, _levels):
        compared.extend(pair.id for pair in pairs)
        return []

    def evaluated(**options):
        compared.clear()
        gold, predicted = (lines(tmp_path / f"{side}.jsonl", records) for side in ("gold", "predicted"))
        joined = join(Reader.of("gold", reading).records([gold]), Reader.of("predicted", reading).records([predicted]))
        checkpoints = Checkpoints(tmp_path, plan.signature, **options)
        return evaluate(plan, joined, ExecutionOptions({"keys": watched}, checkpoints=checkpoints))

    evaluated()
    records[300] = {"id": "d0300", "entries": [{"name": "longer"}, {"name": "b"}]}
    again = evaluated(resume=True)
    assert compared == [f"d{number:04}" for number in range(UNIT_SIZE, 2 * UNIT_SIZE)]
    assert text(again) == text(evaluated())


def workbook(path, **sheets):
    """An Excel workbook: sheets with one document each."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for sheet, name in sheets.items():
        for row in (("id", "name"), ("b", name)):
            (book[sheet] if sheet in book.sheetnames else book.create_sheet(sheet)).append(row)
    book.save(path)


READING = {
    "id_key": ("pair.jsonl", "keys.jsonl", "key"),
    "id_pattern": ("pair.jsonl", "files", "^."),
    "normalize_ids": ("pair.jsonl", "upper.jsonl", True),
    "gold_key": ("nested.jsonl", "pair.jsonl", ("u", "v")),
    "predicted_key": ("pair.jsonl", "nested.jsonl", ("u", "v")),
    "gold_sheet": ("book.xlsx", "pair.jsonl", ("one", "two")),
    "predicted_sheet": ("pair.jsonl", "book.xlsx", ("one", "two")),
    "project": ("pair.jsonl", "pair.jsonl", {"predicted": "{name: 'yy'}"}),
    "lenient": ("pair.jsonl", "comma.jsonl", True),
    "repair_structure": ("pair.jsonl", "moved.jsonl", True),
    "max_depth": ("pair.jsonl", "deep.jsonl", 3),
}
"""Gold, predictions, and a value of a reading option (or two) with which other documents are read from them."""


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """The sources of `READING`, in the current folder."""
    monkeypatch.chdir(tmp_path)
    a, b = {"id": "a", "key": "b", "name": "x"}, {"id": "b", "key": "a", "name": "yy"}
    lines(Path("pair.jsonl"), [a, b])
    lines(Path("keys.jsonl"), [a | {"name": "yy"}, b])
    lines(Path("upper.jsonl"), [a | {"id": "A"}, b])
    lines(Path("nested.jsonl"), [{"id": "b", "u": {"name": "yy"}, "v": {"name": "x"}}])
    lines(Path("deep.jsonl"), [a | {"name": [[["x"]]]}, b])
    Path("comma.jsonl").write_text('{"id": "a", "name": "x",}\n{"id": "b", "name": "yy"}\n', encoding="utf-8")
    Path("moved.jsonl").write_text('{"id": "a", "l": [1, "name": "x"}\n{"id": "b", "name": "yy"}\n', encoding="utf-8")
    workbook("book.xlsx", one="yy", two="x")
    Path("files").mkdir()
    for name in ("a-1", "b"):
        Path("files", f"{name}.json").write_text('{"name": "x"}', encoding="utf-8")


def test_every_reading_option_has_an_example():
    assert {field.name for field in fields(ReadOptions)} - {
        "texts",
        "untyped",
        "field_kinds",
        "drop_nulls",
    } == READING.keys()


@pytest.mark.parametrize("option", READING)
@pytest.mark.usefixtures("sources")
def test_documents_that_are_read_in_another_way_are_compared_again(option):
    gold, predicted, value = READING[option]
    first, second = ({option: each} for each in value) if isinstance(value, tuple) else ({}, {option: value})
    first, second = ({"lenient": option == "repair_structure", **each} for each in (first, second))
    comparator = Comparator({"type": "object", "properties": {"name": {}}})

    def results(given, **options):
        comparator.evaluate(gold=gold, predicted=predicted, **given, **options, keep_checkpoints=True, no_report=True)
        return Path(options["out"], "documents/000000000.jsonl").read_text(encoding="utf-8").splitlines()

    before, after, fresh = (
        results(first, out="out"),
        results(second, out="out", resume=True),
        results(second, out="new"),
    )
    assert before[0] != after[0]
    assert before[1:] != after[1:] == fresh[1:]


def resumed(folder, evaluate, change):
    """Evaluate, change the inputs, and resume; return the results and those of a new evaluation, without checkpoints."""
    evaluate(out=folder / "resumed", keep_checkpoints=True)
    change()
    evaluate(out=folder / "resumed", resume=True, keep_checkpoints=True)
    evaluate(out=folder / "fresh")
    names = [path.name for path in (folder / "fresh").iterdir() if path.name != ".arbitre-output"]
    return [{name: (folder / one / name).read_bytes() for name in names} for one in ("resumed", "fresh")]


def entries_schema(fields, **more):
    return {"type": "array", "items": {"type": "object", "properties": fields}, **more}


ORDERS = [entries_schema({name: {"type": "string"} for name in names}) for names in ("ab", "ba")]
LENGTHS = [entries_schema({"a": {"minLength": length}}) for length in (1, 2)]
REFERENCE, INDIRECT = {"$ref": "part.json"}, {"$ref": "folder/whole.json"}
SCHEMA_CHANGES = {
    "order of the fields": (ORDERS, {}, {}),
    "constraint": (LENGTHS, {}, {}),
    "referenced file": ([entries_schema({"a": {"not": REFERENCE}})] * 2, {}, {}),
    "file that only validation reads": ([entries_schema({}, contains=INDIRECT)] * 2, {}, {}),
    "assertion of formats": ([entries_schema({"a": {"format": "date"}})] * 2, {}, {"format_assertion": True}),
}
"""Schemas and options of the comparator, each before and after. The file part.json also changes."""


@pytest.mark.parametrize("change", SCHEMA_CHANGES)
def test_documents_are_compared_again_if_the_schema_changed(tmp_path, monkeypatch, change):
    monkeypatch.chdir(tmp_path)
    (before, after), *options = SCHEMA_CHANGES[change]
    entries = [{"a": "x", "b": "y"}]

    def write(schema, part):
        Path("schema.json").write_text(json.dumps(schema), encoding="utf-8")
        Path("part.json").write_text(json.dumps(part), encoding="utf-8")

    Path("folder").mkdir()
    Path("folder/whole.json").write_text('{"properties": {"a": {"$ref": "../part.json"}}}', encoding="utf-8")
    write(before, {"const": "other"})

    def evaluated(**more):
        comparator = Comparator("schema.json", **options[more.get("resume", more["out"].name == "fresh")])
        comparator.evaluate([("d", entries, entries)], validate=True, no_report=True, **more)

    found, fresh = resumed(tmp_path, evaluated, lambda: write(after, {"const": "x"}))
    assert found == fresh


def test_documents_are_compared_again_if_the_correspondence_of_shared_ids_changed(tmp_path):
    identity, reference = ({"type": "string", "x-arbitre": {kind: "person"}} for kind in ("id", "ref"))
    person = {"type": "object", "properties": {"id": identity, "name": {"type": "string"}}}
    fields = {"persons": {"type": "array", "items": person}, "sender": reference}
    schema = {"type": "object", "properties": fields, "x-arbitre": {"scope": {"person": "corpus"}}}

    def document(anna, max_):
        return {"persons": [{"id": anna, "name": "Anna"}, {"id": max_, "name": "Max"}], "sender": anna}

    triples = [(str(number), document("A", "B"), document("P", "Q")) for number in range(3 * UNIT_SIZE)]

    def change():
        triples[UNIT_SIZE:] = [(name, gold, document("Q", "P")) for name, gold, _ in triples[UNIT_SIZE:]]

    def evaluated(**options):
        Comparator(schema).evaluate(triples, no_report=True, no_chance=True, no_diagnose=True, **options)

    found, fresh = resumed(tmp_path, evaluated, change)
    assert found == fresh


def test_documents_are_compared_again_if_their_source_texts_changed(tmp_path):
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "a.txt").write_text("Anna", encoding="utf-8")
    comparator = Comparator({"type": "array", "items": {"type": "string"}})

    def evaluated(**options):
        options |= {"source": tmp_path / "source", "diagnose": True, "no_report": True, "no_chance": True}
        comparator.evaluate([("a", ["Anna", "Max"], [])], **options)

    found, fresh = resumed(
        tmp_path, evaluated, lambda: (tmp_path / "source" / "a.txt").write_text("Max", encoding="utf-8")
    )
    assert found == fresh


def test_on_a_full_disk_the_error_suggests_to_resume(tmp_path, monkeypatch):
    triples = [(str(number), [], []) for number in range(UNIT_SIZE + 1)]
    write = DocumentResults.lines

    def full(results):
        if len(results) == 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(results)

    with monkeypatch.context() as patched:
        patched.setattr(DocumentResults, "lines", full)
        with pytest.raises(DataError, match="No space left") as refused:
            Comparator({}).evaluate(triples, out=tmp_path / "out", no_report=True)
    assert refused.value.hint == (
        "Free some space there and continue with --resume, or choose a folder on another disk."
    )
    assert [path.name for path in tmp_path.glob("out/.arbitre-new/documents/*.jsonl")] == ["000000000.jsonl"]
    again = Comparator({}).evaluate(triples, out=tmp_path / "out", no_report=True, resume=True)
    assert len(again.document_table) == len(triples)


def function_of(source):
    """A function that is defined in a module that is not in a file."""
    names = {"__name__": "unknown"}
    exec(source, names)  # noqa: S102
    return names["mine"]


@pytest.mark.parametrize("given", ["name", "function", "without a file"])
def test_documents_are_compared_again_if_the_code_of_a_custom_function_changed(tmp_path, monkeypatch, given):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    qualities = []
    for distance in (0.5, 0.25):
        source = f"def mine(gold, predicted):\n    return {distance}\n"
        Path("changed_function.py").write_text(source, encoding="utf-8")
        monkeypatch.delitem(sys.modules, "changed_function", raising=False)
        if given == "name":
            functions = {"functions": ["changed_function:mine"]}
        elif given == "function":
            functions = {"distances": {"mine": importlib.import_module("changed_function").mine}}
        else:
            functions = {"distances": {"mine": function_of(source)}}
        comparator = Comparator({"type": "string", "x-arbitre": {"distance": "mine"}}, **functions)
        found = comparator.evaluate([("a", "x", "y")], out="out", resume=True, keep_checkpoints=True, no_report=True)
        qualities.append(found.micro.f1q)
    assert qualities == [0.5, 0.75]


def distance(gold, predicted, scale=1.0):
    return scale * (gold != predicted)


def test_the_digest_of_custom_functions_covers_what_they_are_bound_to():
    def digest(function):
        return digest_of_functions(Comparator({}, distances={"mine": function}).plan)

    def scaled(scale):
        return lambda gold, predicted: distance(gold, predicted, scale)

    functions = [distance, *(partial(distance, scale=scale) for scale in (0.5, 0.25)), *map(scaled, (0.5, 0.25))]
    digests = list(map(digest, functions))
    assert None not in digests
    assert len(set(digests)) == len(functions)
    assert digest(partial(distance, scale=0.5)) == digests[1]
    assert digest(partial(distance, scale=Lock())) is None
    assert digest_of_functions(Comparator({}).plan) == digest_of_functions(Comparator(SCHEMA).plan) is not None


def test_without_resume_earlier_checkpoints_are_not_used(plan, joined, tmp_path):
    evaluate(plan, joined, ExecutionOptions({"keys": noted}, checkpoints=Checkpoints(tmp_path, plan.signature)))
    compared = []

    def watched(pairs, _levels):
        compared.extend(pair.key for pair in pairs)
        return [pair.key for pair in pairs]

    how = ExecutionOptions({"keys": watched}, checkpoints=Checkpoints(tmp_path, plan.signature))
    assert text(evaluate(plan, joined, how)) == text(evaluate(plan, joined))
    assert len(compared) == SIZE


def test_a_damaged_checkpoint_is_named(plan, joined, tmp_path):
    evaluate(plan, joined, ExecutionOptions(checkpoints=Checkpoints(tmp_path, plan.signature)))
    path = tmp_path / "documents" / "000000256.jsonl"
    head = path.read_text(encoding="utf-8").splitlines()[0]
    path.write_text(f"{head}\n{{\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"000000256\.jsonl"):
        evaluate(plan, joined, ExecutionOptions(checkpoints=Checkpoints(tmp_path, plan.signature, resume=True)))


def test_a_checkpoint_without_its_table_is_named(plan, joined, tmp_path):
    observers = {"rows.csv": lambda pairs, _: EncodedRows(b"row\n" * len(pairs), len(pairs))}
    how = [
        ExecutionOptions(observers, checkpoints=Checkpoints(tmp_path, plan.signature, resume=resume))
        for resume in (False, True)
    ]
    evaluate(plan, joined, how[0])
    tables = list[EncodedRows]()
    evaluate(plan, joined, replace(how[1], on_results=lambda results: tables.append(results.tables["rows.csv"])))
    assert b"".join(rows.text for rows in tables) == b"row\n" * SIZE
    assert sum(rows.number for rows in tables) == SIZE
    (tmp_path / "documents" / "000000256.rows.csv").unlink()
    with pytest.raises(DataError, match=r"000000256\.jsonl"):
        evaluate(plan, joined, how[1])


def files(folder):
    """What a folder holds, by name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_pickled_plan_keeps_its_schema(tmp_path, plan):
    import pickle

    again = pickle.loads(pickle.dumps(plan))  # noqa: S301
    assert (again.signature, again.root.schema) == (plan.signature, plan.root.schema)
    (tmp_path / "part.json").write_text('{"type": "string"}', encoding="utf-8")
    (tmp_path / "schema.json").write_text('{"type": "array", "items": {"$ref": "part.json"}}', encoding="utf-8")
    of_file = pickle.loads(pickle.dumps(Comparator(tmp_path / "schema.json").plan))  # noqa: S301
    assert [row.path for row in of_file.rows] == ["", "/*"]


KILLED = """
import json, os, signal, sys
from functools import partial

def run(out, event, number, calls, *arguments):
    left = {"events": number, "calls": calls}

    def happens(name, details):
        if name == "os.rename":
            folder = os.path.relpath(os.path.dirname(os.path.abspath(details[1])), out)
            name = {".arbitre-new/documents": "shard", ".arbitre-new": "result", ".": "moved", "documents": "moved"}.get(folder)
        if name == event:
            left["events"] -= 1
            if left["events"] == 0:
                sys.setprofile(called)
                called()

    def called(*_):
        left["calls"] -= 1
        if left["calls"] <= 0:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(happens)
    from arbitre.jobs import evaluation_job
    evaluation_job.ExecutionOptions = partial(evaluation_job.ExecutionOptions, unit_size=4)
    from arbitre.cli import app
    app(arguments, standalone_mode=False)

run(*json.loads(sys.stdin.readline()))
for line in sys.stdin:
    if child := os.fork():
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    else:
        run(*json.loads(line))
        os._exit(0)
"""
"""Runs commands until something happens for the so many-th time, then through so many calls, and no further. All but
the first run in copies of the process, in which everything is loaded."""


def moments():
    """Moments, in order: while it starts, compares, writes the results, and moves them into place."""
    rng = random.Random(1931)  # noqa: S311
    yield from (("import", rng.randrange(1, 500), 0) for _ in range(2))
    yield from (("shard", rng.randrange(2, 5), rng.randrange(5000)) for _ in range(4))
    yield from (("result", first + rng.randrange(2), 0) for first in (1, 4))
    yield "result", 6, rng.randrange(1000, 50_000)  # after evaluation.json, the report is on its way
    yield "result", 9, 0
    yield from (("moved", rng.randrange(first, first + 2), rng.randrange(50)) for first in (1, 2, 4, 6, 8))


def test_a_killed_job_resumes_to_the_same_bytes(tmp_path):
    gold, predicted = corpus(tmp_path, 61)
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    sources = ("--schema", tmp_path / "schema.json", "--gold", gold, "--predicted", predicted)

    def call(name, moment=("", 0, 0)):
        arguments = ("evaluate", *sources, "--out", tmp_path / name, "--resume", "--workers", 1, "--table", "paths.tex")
        return json.dumps([str(tmp_path / name), *moment, *map(str, arguments), "--quiet"]) + "\n"

    def alone(*given):
        return subprocess.run([sys.executable, "-c", KILLED], input=call(*given), text=True, check=False).returncode

    def copied(*given):
        first.stdin.write(call(*given))
        first.stdin.flush()
        return int(first.stdout.readline())

    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    shards = []
    with subprocess.Popen([sys.executable, "-c", KILLED], text=True, **pipes) as first:
        first.stdin.write(call("whole"))
        for moment in moments():
            run = alone if moment[0] == "import" else copied
            assert run("killed", moment) == -signal.SIGKILL, moment
            shards.append(len({path.name for path in tmp_path.glob("killed/**/documents/*.jsonl")}))
        first.stdin.close()
    assert shards == sorted(shards)
    assert (shards[:2], shards[6:]) == ([0, 0], [16] * 9)
    assert 0 < shards[2] < shards[5] < 16
    assert alone("killed") == first.returncode == 0
    assert {"evaluation.json", "matches.csv", "report.html", "paths.tex"} < files(tmp_path / "whole").keys()
    assert files(tmp_path / "killed") == files(tmp_path / "whole")
