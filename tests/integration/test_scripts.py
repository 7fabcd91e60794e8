"""Worker processes start from scripts, standard input and notebooks, with every start method."""

import subprocess
import sys

import pytest

TIMEOUT = 300
"""Seconds after which a script is taken to hang, also on a machine with much other work."""

CODE = """
import arbitre, sys
from arbitre.corpus import fork_server
from arbitre.distances import catalogue

def same(gold, predicted):
    return float(gold != predicted)

print(f"loaded {__name__}", flush=True)
fork_server._METHOD = sys.argv[1] if len(sys.argv) > 1 else "forkserver"
known = catalogue.with_distance("same", same)
leaf = {"type": "string", "x-arbitre": {"distance": "DISTANCE"}}
comparator = arbitre.Comparator({"type": "array", "items": leaf}, distances=known)
pairs = [(str(number), ["a", "b"], ["a", "b"][number % 2:]) for number in range(600)]
if GUARD:
    print(comparator.evaluate(pairs, workers=2).micro.f1q)
"""
SLOW = """
import time
from concurrent.futures import process

join = process._ExecutorManagerThread.join_executor_internals

def join_late(manager):
    time.sleep(1)
    join(manager)

def close_late(pipe):
    pipe._writer.close()
    time.sleep(1)
    pipe._closed = True

process._ExecutorManagerThread.join_executor_internals = join_late
process._ThreadWakeup.close = close_late
"""
EARLY = """
import sys, time
from arbitre.corpus import fork_server
from arbitre.corpus.executors import ProcessPool

fork_server._METHOD, seconds = sys.argv[1], float(sys.argv[2])
processes = ProcessPool(2)
processes.prepare()
time.sleep(seconds)
processes.close()
"""
CLOSED = """
import sys, time
from arbitre.corpus import fork_server
from arbitre.corpus.executors import ProcessPool

fork_server._METHOD = sys.argv[1]
processes = ProcessPool(2)
assert list(processes.map(str, [1, 2])) == ["1", "2"]
processes.close()
time.sleep(0.5)
"""
UNREGISTER_LATE = """
import threading, time
from multiprocessing import resource_tracker

unregister = resource_tracker.unregister

def unregister_late(name, kind):
    if threading.current_thread() is not threading.main_thread():
        time.sleep(1)
    unregister(name, kind)

resource_tracker.unregister = unregister_late
"""
THREAD = """
import threading
import arbitre

working = threading.Event()

def triples():
    for number in range(1200):
        if number == 900:
            working.set()
            threading.main_thread().join()
        yield str(number), ["a", "b"], ["a", "b"][number % 2:]

def evaluate():
    print(arbitre.Comparator({"type": "array", "items": {"type": "string"}}).evaluate(triples(), workers=2).micro.f1q)

threading.Thread(target=evaluate).start()
working.wait()
"""
OF_THE_USER = """
import multiprocessing, signal, sys
import arbitre

def state(_):
    return "colorsys" in sys.modules, signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])

if __name__ == "__main__":
    multiprocessing.set_start_method("forkserver")  # the default from Python 3.14 on
    multiprocessing.set_forkserver_preload(["colorsys"])
    triples = ((str(number), ["a", "b"], ["a", "b"][number % 2:]) for number in range(600))
    print(arbitre.Comparator({"type": "array", "items": {"type": "string"}}).evaluate(triples, workers=2).micro.f1q)
    with multiprocessing.Pool(1) as pool:
        print(*pool.map(state, [0]))
"""
FORK_SERVER, SPAWN = "forkserver", "no fork server"
PLAIN, OWN = "yujian-bo", "same"
SCORE = "0.8571428571428571"
CONSOLE = """
import code, sys, types
sys.modules["__main__"] = types.ModuleType("__main__")
console = code.InteractiveConsole(vars(sys.modules["__main__"]))
console.runcode(console.compile(sys.stdin.read(), "<cell>", "exec"))
"""


def run(distance, *arguments, guard="True", given=None, before=""):
    code = before + CODE.replace("DISTANCE", distance).replace("GUARD", guard)
    if given is not None:
        given.write_text(code, encoding="utf-8")
    *loaded, score, errors = python(*arguments, given=code)
    assert score == SCORE
    return loaded, errors


def python(*arguments, given=""):
    """Return the lines that Python printed, and its errors. It must end."""
    done = subprocess.run(
        [sys.executable, "-W", "always::RuntimeWarning", *arguments],
        input=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT,
    )
    assert done.returncode == 0, done.stderr
    return *done.stdout.splitlines(), done.stderr


@pytest.mark.parametrize("place", ["file", "standard input"])
def test_worker_processes_do_not_run_the_script(tmp_path, place):
    file = tmp_path / "script.py"
    arguments = [str(file), FORK_SERVER] if place == "file" else ["-", SPAWN]
    assert run(PLAIN, *arguments, given=file) == (["loaded __main__"], "")


def test_a_custom_function_of_a_notebook_is_used_in_one_process():
    loaded, errors = run(OWN, "-c", CONSOLE)
    assert loaded == ["loaded __main__"]
    assert "`same` cannot be sent to worker processes, because it is not defined in a file" in errors
    assert len(errors.splitlines()) <= 5


def test_a_custom_function_of_an_unguarded_script_is_used_in_one_process(tmp_path):
    file = tmp_path / "script.py"
    _, errors = run(OWN, str(file), given=file)
    assert f"{file}: Worker processes cannot import this script" in errors
    assert "it starts worker processes itself" in errors
    assert "`if __name__ == '__main__':`" in errors
    assert len(errors.splitlines()) <= 5


def test_a_custom_function_of_a_guarded_script_is_used_in_all_processes(tmp_path):
    file = tmp_path / "script.py"
    loaded, errors = run(OWN, str(file), given=file, guard="__name__ == '__main__'")
    assert "loaded __mp_main__" in "".join(loaded)
    assert errors == ""


@pytest.mark.parametrize("method", [FORK_SERVER, SPAWN])
def test_python_exits_while_worker_processes_are_being_stopped(tmp_path, method):
    file = tmp_path / "script.py"
    assert run(PLAIN, str(file), method, given=file, before=SLOW) == (["loaded __main__"], "")


@pytest.mark.parametrize("seconds", ["0", "0.1", "0.5"])
@pytest.mark.parametrize("method", [FORK_SERVER, SPAWN])
def test_python_exits_while_worker_processes_start(method, seconds):
    assert python("-c", EARLY, method, seconds) == ("",)


@pytest.mark.parametrize("method", [FORK_SERVER, SPAWN])
def test_no_thread_deletes_semaphores_while_python_exits(method):
    assert python("-c", UNREGISTER_LATE + CLOSED, method) == ("",)


def test_an_evaluation_in_a_thread_ends_after_the_main_thread():
    score, errors = python("-c", THREAD)
    assert score == SCORE
    assert "The main thread has ended" in errors
    assert len(errors.splitlines()) <= 3


@pytest.mark.skipif(sys.platform == "win32", reason="has no fork server")
def test_processes_of_the_user_keep_their_preloaded_modules_and_receive_interruptions(tmp_path):
    file = tmp_path / "script.py"
    file.write_text(OF_THE_USER, encoding="utf-8")
    assert python(str(file)) == (SCORE, "(True, False)", "")
