"""Worker processes start once and run until the pool is closed; the fork server starts early for a large corpus."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import time
from functools import partial
from pathlib import Path

import pytest

from arbitre.cli import LARGE_FOLDER, prepare_processes
from arbitre.corpus import executors, fork_server
from arbitre.corpus.executors import ProcessPool, running
from arbitre.errors import ArbitreError
from arbitre.inputs.open_files import LARGE_FILE


def process_of(_item):
    return os.getpid()


class Counted:
    """A function that counts in a file how often it is unpickled."""

    def __init__(self, file):
        self.file = file

    def __call__(self, item):
        return item + 1

    def __setstate__(self, state):
        self.__dict__.update(state)
        with Path(self.file).open("a", encoding="utf-8") as file:
            file.write("x")


def wait_until_removed(folder):
    deadline = time.monotonic() + 60
    while folder.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    return None if folder.exists() else os.getpid()


@pytest.fixture
def pool():
    with running(ProcessPool(2)) as processes:
        yield processes


def test_the_same_processes_do_all_work_until_they_are_closed(pool):
    first, second = (set(pool.map(process_of, range(20))) for _ in range(2))
    assert len(first | second) == 2
    assert os.getpid() not in first
    pool.close()
    assert not first & set(pool.map(process_of, range(20)))


def test_each_process_unpickles_a_function_once(pool, tmp_path):
    assert list(pool.map(Counted(str(tmp_path / "count")), range(50))) == list(range(1, 51))
    assert len((tmp_path / "count").read_text(encoding="utf-8")) <= 2


def test_a_single_call_starts_no_processes(pool):
    assert pool.run(os.getpid) == os.getpid()
    started = set(pool.map(process_of, range(20)))
    assert pool.run(os.getpid) in started


def test_two_functions_are_called_at_the_same_time(pool, tmp_path):
    assert pool.run_both(os.getpid, os.getpid) == (os.getpid(), os.getpid())
    started = set(pool.map(process_of, range(20)))
    (tmp_path / "wait").mkdir()
    seen, here = pool.run_both(partial(wait_until_removed, tmp_path / "wait"), (tmp_path / "wait").rmdir)
    assert seen in started
    assert here is None


def test_an_error_of_either_function_is_raised(pool):
    list(pool.map(process_of, range(20)))
    fail = partial((1).__truediv__, 0)
    for functions in [(fail, os.getpid), (os.getpid, fail)]:
        with pytest.raises(ZeroDivisionError):
            pool.run_both(*functions)
    assert pool.run_both(os.getpid, os.getpid)[1] == os.getpid()


def test_a_function_that_cannot_be_pickled_is_refused(pool):
    with pytest.raises(ArbitreError, match="cannot be sent to worker processes"):
        list(pool.map(lambda item: item, [1]))


def test_a_process_that_cannot_start_others_does_all_work_itself(pool, monkeypatch):
    monkeypatch.setattr(type(multiprocessing.current_process()), "daemon", True)
    pool.prepare()
    with pytest.warns(RuntimeWarning, match="use --workers 1"):
        assert set(pool.map(process_of, range(3))) == {os.getpid()}


def test_new_processes_start_after_an_error(pool):
    with pytest.raises(ZeroDivisionError), running(pool):
        list(pool.map((1).__truediv__, [0]))
    assert list(pool.map(pickle.dumps, [1])) == [pickle.dumps(1)]


class TestFailedStart:
    @pytest.fixture(autouse=True)
    def broken(self, monkeypatch):
        def refuse(*_args):
            raise OSError("no semaphores")

        monkeypatch.setattr(executors, "ProcessPoolExecutor", refuse)

    def test_work_that_requires_processes_is_refused_with_advice(self, pool):
        with pytest.raises(ArbitreError, match="could not be started: no semaphores") as refused:
            list(pool.map(process_of, range(3)))
        assert "--workers 1" in str(refused.value)

    def test_other_work_is_done_in_this_process(self, pool):
        pool.prepare()
        assert set(pool.map(process_of, range(3), wait=False)) == {os.getpid()}
        assert pool.run(os.getpid) == os.getpid()


def test_this_process_works_until_the_others_have_started(pool, monkeypatch):
    monkeypatch.setattr(executors, "_start", lambda *_: None)
    pool.prepare()
    assert set(pool.map(process_of, range(3), wait=False)) == {os.getpid()}


class TestEarlyStart:
    @pytest.fixture
    def started(self, monkeypatch):
        calls = []
        monkeypatch.setattr(fork_server, "start_server", lambda: calls.append("started"))
        monkeypatch.setattr(os, "cpu_count", lambda: 2)
        return calls

    @pytest.fixture
    def large(self, tmp_path):
        file = tmp_path / "gold.jsonl"
        with file.open("wb") as opened:
            opened.truncate(LARGE_FILE + 1)
        return str(file)

    @pytest.mark.parametrize("form", ["--gold {}", "--gold={}"])
    def test_a_large_file_starts_the_server(self, started, large, form):
        prepare_processes(form.format(large).split())
        assert started == ["started"]

    def test_a_large_folder_starts_the_server(self, started, tmp_path):
        for number in range(LARGE_FOLDER):
            (tmp_path / f"{number}.json").touch()
        prepare_processes(["--gold", str(tmp_path)])
        assert started == ["started"]

    @pytest.mark.parametrize("options", [["--workers", "1"], ["--workers=1"], ["--engine", "dask"], ["--help"]])
    def test_commands_without_worker_processes_start_nothing(self, started, large, options):
        prepare_processes(["--gold", large, *options])
        assert not started

    def test_small_and_missing_sources_start_nothing(self, started, tmp_path):
        (tmp_path / "gold.jsonl").write_text("{}", encoding="utf-8")
        prepare_processes(["--gold", str(tmp_path / "gold.jsonl"), "--predicted", "missing", "\0", str(tmp_path)])
        assert not started
