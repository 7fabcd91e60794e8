"""A corpus gives the same bytes in one process, in several, on a cluster, and after a resumed run."""

import fcntl
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import arbitre
from arbitre import Comparator
from arbitre.cli import app
from arbitre.corpus.checkpoints import Checkpoints
from arbitre.corpus.evaluate import PART_SIZE, ExecutionOptions, evaluate
from arbitre.corpus.executors import ProcessPool
from arbitre.corpus.worker import Worker
from arbitre.curve import MAX_BINS, Curve, CurveAccumulator
from arbitre.errors import ArbitreError, DataError
from arbitre.inputs.join import join
from arbitre.inputs.options import ReadOptions

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
SIZE = 4 * PART_SIZE + 17


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
    return join(reading.records([gold], "gold"), reading.records([predicted], "predicted"))


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
    test_kill_and_resume.evaluate(plan, [(str(number), {}, {}) for number in range(4 * test_kill_and_resume.PART_SIZE)], how)
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
    assert [int(path.stem) for path in shards] == list(range(0, SIZE, PART_SIZE))
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
    assert compared == [f"d{number:04}" for number in range(PART_SIZE, 2 * PART_SIZE)]
    assert keys == [f"d{number:04}" for number in range(SIZE)]
    assert sorted((tmp_path / "documents").iterdir()) == shards


@pytest.mark.parametrize("change", ["signature", "file", "asked"])
def test_checkpoints_of_other_inputs_are_not_resumed(plan, joined, tmp_path, change):
    evaluate(plan, joined, ExecutionOptions({"keys": noted}, checkpoints=Checkpoints(tmp_path, plan.signature)))
    signature, asked = plan.signature, ()
    if change == "signature":
        signature = Comparator(SCHEMA, close=0.9).plan.signature
    elif change == "file":
        with (tmp_path / "gold.jsonl").open("a", encoding="utf-8") as file:
            file.write("\n")
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
    observers = {"rows.csv": lambda pairs, _: b"row\n" * len(pairs)}
    how = [
        ExecutionOptions(observers, checkpoints=Checkpoints(tmp_path, plan.signature, resume=resume))
        for resume in (False, True)
    ]
    evaluate(plan, joined, how[0])
    tables = list[bytes]()
    evaluate(plan, joined, replace(how[1], on_results=lambda results: tables.append(results.tables["rows.csv"])))
    assert b"".join(tables) == b"row\n" * SIZE
    (tmp_path / "documents" / "000000256.rows.csv").unlink()
    with pytest.raises(DataError, match=r"000000256\.jsonl"):
        evaluate(plan, joined, how[1])


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(**options) as made:
        yield made


def files(folder):
    """What a folder holds, by name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("command", ["evaluate", "rank"])
def test_both_commands_leave_the_same_files_from_a_cluster(tmp_path, cluster, command):
    gold, predicted = corpus(tmp_path, 20)
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps(SCHEMA), encoding="utf-8")
    systems = {"evaluate": ["--predicted", predicted, "--diagnose"], "rank": [f"a={predicted}", f"b={gold}"]}[command]
    engines = {"here": ["--workers", "1"], "there": ["--engine", "dask", "--scheduler", cluster.scheduler_address]}
    before = cluster.scheduler.transition_counter
    for out, engine in engines.items():
        arguments = [command, "--schema", schema, "--gold", gold, *systems, *engine, "--out", tmp_path / out]
        result = CliRunner().invoke(app, list(map(str, arguments)))
        assert result.exit_code == 0, result.output
    here, there = files(tmp_path / "here"), files(tmp_path / "there")
    assert ("a/evaluation.json" if command == "rank" else "evaluation.json") in here
    assert here == there
    assert cluster.scheduler.transition_counter > before


def test_a_cluster_changes_no_byte_even_where_a_worker_is_killed(plan, joined, cluster):
    from arbitre.corpus.cluster import DaskCluster

    killed = []

    def kill(_outcomes):
        if not killed:
            killed.append(next(iter(cluster.workers.values())))
            os.kill(killed[0].pid, signal.SIGKILL)

    how = ExecutionOptions(on_results=kill, executor=DaskCluster(cluster.scheduler_address))
    assert text(evaluate(plan, joined, how)) == text(evaluate(plan, joined))
    assert killed


def test_an_unreachable_scheduler_is_named():
    pytest.importorskip("distributed")
    from arbitre.corpus.cluster import DaskCluster

    with pytest.raises(ArbitreError, match="Dask scheduler"):
        list(DaskCluster("tcp://127.0.0.1:1")(None, []))


def test_an_evaluation_waits_for_the_first_worker(plan, joined):
    distributed = pytest.importorskip("distributed")
    from arbitre.corpus.cluster import DaskCluster

    options = {"n_workers": 0, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(**options) as made:
        timer = threading.Timer(0.5, made.scale, [2])
        timer.start()
        found = evaluate(plan, joined, ExecutionOptions(executor=DaskCluster(made.scheduler_address, 2)))
        timer.join()
    assert text(found) == text(evaluate(plan, joined))


@pytest.fixture
def other_worker(tmp_path, cluster):
    """Starts a worker with a copy of arbitre in which a text is replaced; it joins the cluster of the other tests."""
    started = []

    def start(file, old, new):
        package = tmp_path / "site" / "arbitre"
        shutil.copytree(Path(arbitre.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
        changed = package / file
        text = changed.read_text(encoding="utf-8")
        assert old in text
        changed.write_text(text.replace(old, new), encoding="utf-8")
        command = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address]
        command += ["--no-nanny", "--nthreads", "1", "--name", "other", "--dashboard-address", ":0"]
        env = os.environ | {"PYTHONPATH": os.fspath(package.parent)}
        started.append(subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        deadline = time.monotonic() + 60
        while not any(one.name == "other" for one in cluster.scheduler.workers.values()):
            assert time.monotonic() < deadline
            time.sleep(0.05)

    yield start
    for process in started:
        process.kill()
        process.wait()
    while any(one.name == "other" for one in cluster.scheduler.workers.values()):
        time.sleep(0.05)


def run_until_other_worker(plan, joined, cluster):
    """Evaluates until the other worker has compared something."""
    from arbitre.corpus.cluster import DaskCluster

    for _ in range(20):
        evaluate(plan, joined, ExecutionOptions(executor=DaskCluster(cluster.scheduler_address), unit_size=1))


def test_a_worker_with_other_code_stops_the_run(plan, joined, cluster, other_worker):
    other_worker("tally.py", "import math", "import math  # changed")
    with pytest.raises(ArbitreError, match=r"runs arbitre 0\.1\.0 \(\w{8}\), but this process runs 0\.1\.0 \(\w{8}\)"):
        run_until_other_worker(plan, joined, cluster)


def test_a_worker_of_an_older_version_stops_the_run(plan, joined, cluster, other_worker):
    other_worker(
        "corpus/cluster.py", "return WorkerResults(worker(part), get_worker().address, code())", "return worker(part)"
    )
    with pytest.raises(ArbitreError, match="runs arbitre an older version, but this process"):
        run_until_other_worker(plan, joined, cluster)


def test_a_worker_without_arbitre_is_one_message(tmp_path, plan, joined):
    """The package of the worker lacks the modules that it needs, as if nothing were installed."""
    distributed = pytest.importorskip("distributed")
    from arbitre.corpus.cluster import DaskCluster

    package = tmp_path / "site" / "arbitre"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('No module named arbitre')", encoding="utf-8")
    options = {"n_workers": 0, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(**options) as made:
        command = [sys.executable, "-m", "distributed.cli.dask_worker", made.scheduler_address, "--no-nanny"]
        env = os.environ | {"PYTHONPATH": os.fspath(package.parent)}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        worker = subprocess.Popen([*command, "--dashboard-address", ":0"], env=env, **quiet)
        try:
            with pytest.raises(ArbitreError, match=r"cannot run arbitre .*No module named"):
                evaluate(plan, joined, ExecutionOptions(executor=DaskCluster(made.scheduler_address)))
        finally:
            worker.kill()
            worker.wait()


def test_a_worker_with_other_results_stops_the_run(plan, joined, cluster, monkeypatch):
    """As with another version of a library: the code is the same, the numbers are not."""
    from arbitre.corpus.cluster import DaskCluster

    compared = Worker.__call__
    monkeypatch.setattr(Worker, "__call__", lambda self, part: replace_qualities(compared(self, part)))
    with pytest.raises(ArbitreError, match="gives another result than this process for the document"):
        evaluate(plan, joined, ExecutionOptions(executor=DaskCluster(cluster.scheduler_address)))


def replace_qualities(results):
    results.qualities = results.qualities * 0.5
    return results


def test_a_lost_scheduler_is_named_with_how_to_go_on(tmp_path, plan, joined):
    pytest.importorskip("distributed")
    from arbitre.corpus.cluster import DaskCluster

    file = tmp_path / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--scheduler-file", file]
    scheduler = subprocess.Popen([*command, "--dashboard-address", ":0"], **quiet)
    deadline = time.monotonic() + 60
    while not file.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    command = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", file, "--no-nanny"]
    worker = subprocess.Popen([*command, "--dashboard-address", ":0"], **quiet)
    address = json.loads(file.read_text(encoding="utf-8"))["address"]
    how = ExecutionOptions(on_results=lambda _: scheduler.kill(), executor=DaskCluster(address), unit_size=1)
    try:
        with pytest.raises(ArbitreError, match=r"The connection to the Dask scheduler at .* was lost") as caught:
            evaluate(plan, joined, how)
        assert "--resume" in caught.value.hint
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()


def test_a_curve_of_many_qualities_is_binned_with_the_same_area():
    rng = random.Random(1)  # noqa: S311
    qualities = [rng.random() for _ in range(3 * MAX_BINS)]
    steps = CurveAccumulator()
    for begin in range(0, len(qualities), 1000):
        part = Curve.of(qualities[begin : begin + 1000], 0, 0)
        steps.add(part.qualities, part.counts)
    exact, binned = Curve.of(qualities, 40_000, 50_000), steps.curve(40_000, 50_000)
    assert len(exact.qualities) > MAX_BINS >= len(binned.qualities)
    assert binned.area == pytest.approx(exact.area, abs=1e-7)
    for threshold in (0.5, 0.7, 0.9):
        assert binned.surviving(threshold) == exact.surviving(threshold)


def test_a_curve_of_few_qualities_has_exact_steps():
    steps = CurveAccumulator()
    for part in ([0.5, 0.25, 0.5], [1.0], []):
        curve = Curve.of(part, 0, 0)
        steps.add(curve.qualities, curve.counts)
    curve = steps.curve(5.0, 6.0)
    assert (curve.qualities.tolist(), curve.counts.tolist(), curve.gold) == ([0.25, 0.5, 1.0], [1.0, 2.0, 1.0], 5.0)


def test_a_pickled_plan_keeps_its_schema(tmp_path, plan):
    import pickle

    again = pickle.loads(pickle.dumps(plan))  # noqa: S301
    assert (again.signature, again.root.schema) == (plan.signature, plan.root.schema)
    (tmp_path / "part.json").write_text('{"type": "string"}', encoding="utf-8")
    (tmp_path / "schema.json").write_text('{"type": "array", "items": {"$ref": "part.json"}}', encoding="utf-8")
    of_file = pickle.loads(pickle.dumps(Comparator(tmp_path / "schema.json").plan))  # noqa: S301
    assert [row.path for row in of_file.rows] == ["", "/*"]


KILLED = """
import os, signal, sys
out, event, number, calls, *arguments = sys.argv[1:]
left = {"events": int(number), "calls": int(calls)}

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
from functools import partial
from arbitre.report import evaluation_job
evaluation_job.ExecutionOptions = partial(evaluation_job.ExecutionOptions, unit_size=4)
from arbitre.cli import app
app(arguments)
"""
"""Runs the command until something happens for the so many-th time, then through so many calls, and no further."""


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

    def run(name, moment=("", 0, 0)):
        out, sources = tmp_path / name, ("--schema", tmp_path / "schema.json", "--gold", gold, "--predicted", predicted)
        arguments = ("evaluate", *sources, "--out", out, "--resume", "--workers", 1, "--table", "paths.tex", "--quiet")
        command = [sys.executable, "-c", KILLED, *map(str, (out, *moment, *arguments))]
        return subprocess.run(command, check=False).returncode

    shards = []
    for moment in moments():
        assert run("killed", moment) == -signal.SIGKILL, moment
        shards.append(len({path.name for path in tmp_path.glob("killed/**/documents/*.jsonl")}))
    assert shards == sorted(shards)
    assert (shards[:2], shards[6:]) == ([0, 0], [16] * 9)
    assert 0 < shards[2] < shards[5] < 16
    assert (run("killed"), run("whole")) == (0, 0)
    assert {"evaluation.json", "matches.csv", "report.html", "paths.tex"} < files(tmp_path / "whole").keys()
    assert files(tmp_path / "killed") == files(tmp_path / "whole")
