"""Ctrl-C, a full standard output and unexpected errors: messages, exit codes and temporary folders."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = """
import signal, time, arbitre.__main__, arbitre.cli
from arbitre.corpus.executors import ProcessPool
from arbitre.storage.temporary import TemporaryFolder

class Interrupted:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

def command():
    folder, pool = TemporaryFolder(), ProcessPool(2)
    pool.prepare()
    try:
        INTERRUPT
    finally:
        pool.close()

arbitre.cli.main = command
arbitre.__main__.main()
"""
LATE_SERVER = """
import atexit, time
atexit.register(time.sleep, 0.5)  # runs after multiprocessing has deleted its folders

from arbitre.corpus import fork_server
run = fork_server._SERVER.ensure_running

def run_late():
    fork_server._ENDED.wait(10)
    time.sleep(0.1)
    run()

fork_server._SERVER.ensure_running = run_late
"""
MOMENTS = {
    "while processes start": "signal.raise_signal(signal.SIGINT)",
    "while processes work": "next(pool.map(int, [1]));signal.raise_signal(signal.SIGINT)",
    "in a destructor": "Interrupted(); time.sleep(1)",
}


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(
    "code",
    [
        *(COMMAND.replace("INTERRUPT", moment) for moment in MOMENTS.values()),
        LATE_SERVER + COMMAND.replace("INTERRUPT", MOMENTS["while processes start"]),
    ],
    ids=[*MOMENTS, "before the fork server starts"],
)
def test_an_interrupted_command_prints_one_line_and_leaves_no_folder(tmp_path, code):
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr, done.stdout) == (130, "Interrupted\n", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("options", [["--version"], ["compare", "gold.json", "gold.json", "--format", "json"]])
def test_a_full_standard_output_is_an_error(tmp_path, options, unbuffered):
    (tmp_path / "gold.json").write_text(json.dumps(["a"]), encoding="utf-8")
    (tmp_path / "schema.json").write_text(json.dumps({"type": "array"}), encoding="utf-8")
    schema = ["--schema", "schema.json"] * (len(options) > 1)
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "arbitre", *options, *schema],
            cwd=tmp_path,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == (
        "error: Cannot write to standard output: No space left on device\n"
        "  Free some space, or redirect the output to another disk.\n"
    )


@pytest.mark.parametrize("error", ["EOFError", "BrokenPipeError", "KeyError"])
def test_an_unexpected_error_has_a_traceback_and_not_the_exit_code_of_quality_bounds(error):
    command = (
        f"import sys, arbitre.cli\ndef fail(_):\n    raise {error}(32, 'lost')\n"
        "arbitre.cli.function_of = fail\nsys.argv = ['arbitre', 'config', 'show']\nsys.exit(arbitre.cli.main())"
    )
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{error}: " in done.stderr
    assert "Traceback" in done.stderr
