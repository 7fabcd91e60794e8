"""A corpus gives the same bytes on a Dask cluster as in one process, whatever happens to its workers."""

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.integration.test_kill_and_resume import SCHEMA, corpus, files, text
from typer.testing import CliRunner

import arbitre
from arbitre import Comparator
from arbitre.cli import app
from arbitre.corpus.cluster import ClusterRun, DaskCluster
from arbitre.corpus.evaluate import ExecutionOptions, evaluate
from arbitre.corpus.worker import Worker
from arbitre.errors import ArbitreError, DataError
from arbitre.inputs.corpus_sources import Sources
from arbitre.inputs.join import join
from arbitre.inputs.options import ReadOptions
from arbitre.inputs.reader import Reader

VERSION = re.escape(arbitre.__version__)


@pytest.fixture(scope="module")
def plan():
    return Comparator(SCHEMA).plan


@pytest.fixture
def joined(tmp_path):
    gold, predicted = corpus(tmp_path, 60)
    reading = ReadOptions()
    return join(Reader.of("gold", reading).records([gold]), Reader.of("predicted", reading).records([predicted]))


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(**options) as made:
        yield made


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
    killed = []

    def kill(_outcomes):
        if not killed:
            killed.append(next(iter(cluster.workers.values())))
            os.kill(killed[0].pid, signal.SIGKILL)

    how = ExecutionOptions(on_results=kill, executor=DaskCluster(cluster.scheduler_address), unit_size=4)
    assert text(evaluate(plan, joined, how)) == text(evaluate(plan, joined, ExecutionOptions(unit_size=4)))
    assert killed


def test_workers_find_the_causes_and_the_documents_of_the_report(tmp_path, cluster, monkeypatch):
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    (tmp_path / "schema.json").write_text(json.dumps(schema), encoding="utf-8")
    names = ("Ada Crewe", "Bob Arnoult", "Cyd Vaudreine", "Dan Quill", "Eve Westonbirt", "Fay Castelnoir")
    for side, spell in (("gold", str), ("predicted", str.upper)):
        documents = [{"id": f"d{at:03}", "name": spell(names[at % len(names)])} for at in range(600)]
        (tmp_path / f"{side}.jsonl").write_text("\n".join(map(json.dumps, documents)), encoding="utf-8")
    sources = {side: tmp_path / f"{side}.jsonl" for side in ("gold", "predicted")}
    comparator = Comparator(tmp_path / "schema.json")
    here = comparator.evaluate(**sources, out=tmp_path / "here", workers=1)
    for function in ("causes.search.Search.of", "report.document_tree._aligned"):
        monkeypatch.delattr(f"arbitre.{function}")  # in this process only
    there = comparator.evaluate(**sources, out=tmp_path / "there", engine="dask", scheduler=cluster.scheduler_address)
    assert files(tmp_path / "there") == files(tmp_path / "here")
    assert [cause.kind for cause in there.causes] == [cause.kind for cause in here.causes] == ["case"]


def test_an_unreachable_scheduler_is_named(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("arbitre.corpus.cluster.CONNECTION_TIMEOUT", 0.5)
    with pytest.raises(ArbitreError, match="Dask scheduler"):
        list(DaskCluster("tcp://127.0.0.1:1")(None, []))


def test_an_evaluation_waits_for_the_first_worker(plan, joined):
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 0, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(**options) as made:
        timer = threading.Timer(0.5, made.scale, [2])
        timer.start()
        how = ExecutionOptions(executor=DaskCluster(made.scheduler_address, 2), unit_size=4)
        found = evaluate(plan, joined, how)
        timer.join()
    assert text(found) == text(evaluate(plan, joined, ExecutionOptions(unit_size=4)))


def test_a_worker_that_joins_late_compares_documents(plan, joined):
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(**options) as made:
        first = set(made.scheduler.workers)

        def add_worker(_outcomes):
            if len(made.workers) == 1:
                made.scale(2)
                made.wait_for_workers(2)

        how = ExecutionOptions(on_results=add_worker, executor=DaskCluster(made.scheduler_address), unit_size=1)
        found = evaluate(plan, joined, how)
        (late,) = set(made.scheduler.workers) - first
        with distributed.Client(made.scheduler_address, set_as_default=False) as client:
            compared = client.run(lambda dask_worker: dask_worker.state.executed_count, workers=[late])[late]
    assert compared > len(joined) / 10
    assert text(found) == text(evaluate(plan, joined, ExecutionOptions(unit_size=1)))


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
    for _ in range(20):
        evaluate(plan, joined, ExecutionOptions(executor=DaskCluster(cluster.scheduler_address), unit_size=1))


def test_a_worker_with_other_code_stops_the_run(plan, joined, cluster, other_worker):
    other_worker("tally.py", "import math", "import math  # changed")
    with pytest.raises(
        ArbitreError, match=rf"runs arbitre {VERSION} \(\w{{8}}\), but this process runs {VERSION} \(\w{{8}}\)"
    ):
        run_until_other_worker(plan, joined, cluster)


def test_a_result_of_other_code_stops_the_run(plan, joined, cluster, other_worker, monkeypatch):
    """As when a worker joins and returns a result before the next check for new workers."""
    monkeypatch.setattr(ClusterRun, "_workers", lambda self: self.client.nthreads())
    other_worker("tally.py", "import math", "import math  # changed")
    with pytest.raises(
        ArbitreError, match=rf"runs arbitre {VERSION} \(\w{{8}}\), but this process runs {VERSION} \(\w{{8}}\)"
    ):
        run_until_other_worker(plan, joined, cluster)


def test_a_worker_of_an_older_version_stops_the_run(plan, joined, cluster, other_worker):
    other_worker("corpus/cluster.py", "def code(", "def old_code(")
    with pytest.raises(ArbitreError, match=rf"The worker .* cannot run arbitre {VERSION} \(\w{{8}}\)"):
        run_until_other_worker(plan, joined, cluster)


def test_a_worker_without_arbitre_is_one_message(tmp_path, plan, joined):
    """The package of the worker lacks the modules that it needs, as if nothing were installed."""
    distributed = pytest.importorskip("distributed")
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
    compared = Worker.__call__
    monkeypatch.setattr(Worker, "__call__", lambda self, part: replace_qualities(compared(self, part)))
    with pytest.raises(ArbitreError, match="and this process return different results for the document"):
        evaluate(plan, joined, ExecutionOptions(executor=DaskCluster(cluster.scheduler_address)))


def replace_qualities(results):
    results.qualities = results.qualities * 0.5 + 0.1
    return results


def test_a_lost_scheduler_is_named_with_how_to_go_on(tmp_path, plan, joined):
    pytest.importorskip("distributed")
    file = tmp_path / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--scheduler-file", file]
    scheduler = subprocess.Popen([*command, "--dashboard-address", ":0"], **quiet)
    deadline = time.monotonic() + 60
    while not (file.exists() and file.stat().st_size):
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


# Workers in another folder, and workers that lack something.

FUNCTION = """
def first_letters(gold, predicted):
    return 0.0 if gold[:1] == predicted[:1] else 1.0
"""

LACKING = """
from arbitre.errors import DataError
from arbitre.inputs import work_units


def missing(*_):
    raise DataError.of("No such file or directory", file="gold.jsonl")


work_units._value = missing
"""


def test_workers_parse_large_files_of_json_lines(tmp_path, cluster, monkeypatch):
    """Their records are those of one process, and the client parses none of them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("arbitre.inputs.blocks.LARGE_FILE", 1 << 10)
    corpus(tmp_path)
    sources = Sources(gold="gold.jsonl", predicted="predicted.jsonl")
    alone = sources.joined()
    executor = DaskCluster(cluster.scheduler_address)
    before = cluster.scheduler.transition_counter
    with monkeypatch.context() as patched:
        patched.setattr(Reader, "record", None)
        found = sources.joined(workers=executor)
    assert cluster.scheduler.transition_counter > before
    assert found.failures == alone.failures
    assert list(found.pairs) == list(alone.pairs)


def test_relative_paths_and_modules_of_the_client_resolve_on_workers(tmp_path, cluster, monkeypatch):
    """The workers were started in another folder, and have neither the schema, nor the module, nor the texts there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    corpus(tmp_path, 20)
    Path("schema.json").write_text(json.dumps({"$ref": "parts.json"}), encoding="utf-8")
    entries = json.loads(json.dumps(SCHEMA))
    entries["properties"]["entries"]["items"]["properties"]["name"]["x-arbitre"] = {"distance": "first_letters"}
    Path("parts.json").write_text(json.dumps(entries), encoding="utf-8")
    Path("cluster_functions.py").write_text(FUNCTION, encoding="utf-8")
    Path("texts").mkdir()
    for number in range(20):
        Path(f"texts/d{number:04}.txt").write_text("abcde", encoding="utf-8")
    common = ["evaluate", "--schema", "schema.json", "--gold", "gold.jsonl", "--predicted", "predicted.jsonl"]
    common += ["--functions", "cluster_functions:first_letters", "--source", "texts"]
    for out, engine in {
        "here": ["--workers", "1"],
        "there": ["--engine", "dask", "--scheduler", cluster.scheduler_address],
    }.items():
        result = CliRunner().invoke(app, [*common, *engine, "--out", out])
        assert result.exit_code == 0, result.output
    assert files(tmp_path / "here") == files(tmp_path / "there")


@pytest.fixture
def worker_without_files(tmp_path):
    """Starts a worker that cannot open the files of documents."""
    started = []
    (tmp_path / "lacking.py").write_text(LACKING, encoding="utf-8")

    def start(scheduler):
        command = [sys.executable, "-m", "distributed.cli.dask_worker", scheduler, "--no-nanny", "--nthreads", "1"]
        command += ["--dashboard-address", ":0", "--preload", str(tmp_path / "lacking.py")]
        started.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_a_worker_without_the_files_is_reported_and_its_part_goes_to_another(plan, joined, worker_without_files):
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(**options) as made:
        worker_without_files(made.scheduler_address)
        how = ExecutionOptions(executor=DaskCluster(made.scheduler_address, wait_workers=2), unit_size=4)
        with pytest.warns(RuntimeWarning, match=r"Stopped using the worker tcp://.*: .*No such file"):
            found = evaluate(plan, joined, how)
    assert text(found) == text(evaluate(plan, joined, ExecutionOptions(unit_size=4)))


def test_only_workers_without_the_files_stop_the_run(plan, joined, worker_without_files):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=50) as made:
        worker_without_files(made.scheduler_address)
        how = ExecutionOptions(executor=DaskCluster(made.scheduler_address))
        with (
            pytest.warns(RuntimeWarning, match="Stopped using the worker"),
            pytest.raises(ArbitreError, match=r"Workers of .* failed on a part") as caught,
        ):
            evaluate(plan, joined, how)
    assert "shared file system" in caught.value.hint


def test_a_document_that_changed_is_the_same_error_as_here(plan, tmp_path, joined, cluster):
    (tmp_path / "predicted.jsonl").write_text("", encoding="utf-8")
    with (
        pytest.warns(RuntimeWarning, match="Stopped using the worker"),
        pytest.raises(DataError, match="changed on disk"),
    ):
        evaluate(plan, joined, ExecutionOptions(executor=DaskCluster(cluster.scheduler_address)))


def test_results_may_take_longer_to_arrive_than_the_interval_between_checks(plan, joined, cluster, monkeypatch):
    distributed = pytest.importorskip("distributed")
    gather = distributed.Client._gather

    async def slowly(*given, **options):
        await asyncio.sleep(0.05)
        return await gather(*given, **options)

    monkeypatch.setattr(distributed.Client, "_gather", slowly)
    monkeypatch.setattr("arbitre.corpus.cluster.INTERVAL", 0.02)
    found = evaluate(plan, joined, ExecutionOptions(executor=DaskCluster(cluster.scheduler_address)))
    assert text(found) == text(evaluate(plan, joined, ExecutionOptions()))


def test_the_only_worker_may_be_killed(plan, joined):
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    killed = []
    with distributed.LocalCluster(**options) as made:

        def kill(_outcomes):
            if not killed:
                killed.append(next(iter(made.workers.values())))
                os.kill(killed[0].pid, signal.SIGKILL)
                made.scale(2)  # another joins

        how = ExecutionOptions(on_results=kill, executor=DaskCluster(made.scheduler_address), unit_size=4)
        found = evaluate(plan, joined, how)
    assert killed
    assert text(found) == text(evaluate(plan, joined, ExecutionOptions(unit_size=4)))
