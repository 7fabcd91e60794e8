"""Worker processes start from scripts, standard input and notebooks, with every start method."""

import subprocess
import sys

import pytest

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
PLAIN, OWN = "yujian-bo", "same"
CONSOLE = """
import code, sys, types
sys.modules["__main__"] = types.ModuleType("__main__")
console = code.InteractiveConsole(vars(sys.modules["__main__"]))
console.runcode(console.compile(sys.stdin.read(), "<cell>", "exec"))
"""


def run(distance, *arguments, guard="True", given=None):
    code = CODE.replace("DISTANCE", distance).replace("GUARD", guard)
    if given is not None:
        given.write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "always::RuntimeWarning", *arguments],
        input=code,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *loaded, score = done.stdout.splitlines()
    assert score == "0.8571428571428571"
    return loaded, done.stderr


@pytest.mark.parametrize("place", ["file", "standard input"])
def test_worker_processes_do_not_run_the_script(tmp_path, place):
    file = tmp_path / "script.py"
    arguments = [str(file), "forkserver"] if place == "file" else ["-", "spawn"]
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
