"""Temporary folders are deleted when their process ends, or by a later process if it was killed."""

import os
import signal
import subprocess
import sys
import tempfile

import pytest

from arbitre.inputs.work_units import Spool
from arbitre.storage.temporary import OWNER, TemporaryFolder, remove_stale_folders

KILLED = """
import os, signal, sys
from arbitre.storage.temporary import TemporaryFolder
folder = TemporaryFolder()
(folder.path / "large").write_text("x")
print(folder.path.name, flush=True)
os.kill(os.getpid(), int(sys.argv[1]))
"""


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    remove_stale_folders.cache_clear()
    yield tmp_path
    remove_stale_folders.cache_clear()


def interrupted(how):
    done = subprocess.run([sys.executable, "-c", KILLED, str(int(how))], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def test_a_folder_is_deleted_when_it_is_closed_or_no_longer_used(place):
    with TemporaryFolder() as folder:
        assert folder.path.is_dir()
        assert not folder.path.is_symlink()
    left = TemporaryFolder()
    del left
    assert list(place.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs file locks")
def test_the_next_process_deletes_the_folder_of_a_killed_one(place):
    name = interrupted(signal.SIGKILL)
    assert (place / name).is_dir()
    with TemporaryFolder() as folder:
        assert list(place.iterdir()) == [folder.path]


def test_an_interrupted_process_leaves_no_folder(place):
    assert interrupted(signal.SIGINT)
    assert list(place.iterdir()) == []


def test_only_folders_of_ended_processes_of_arbitre_are_deleted(place):
    with TemporaryFolder() as running:
        (place / "arbitre-mine").mkdir()
        (place / "arbitre-mine" / "notes.txt").write_text("", encoding="utf-8")
        (place / "arbitre-other").mkdir()
        (place / "arbitre-other" / OWNER).write_text(
            "Temporary folder of arbitre on another machine\n", encoding="utf-8"
        )
        (place / "arbitre-link").symlink_to(place / "arbitre-mine")
        (place / "arbitre-file").touch()
        os.utime(running.path, (0, 0))
        (place / "other").mkdir()
        (place / "other" / OWNER).write_bytes((running.path / OWNER).read_bytes())
        before = sorted(place.rglob("*"))
        remove_stale_folders.cache_clear()
        remove_stale_folders()
        assert sorted(place.rglob("*")) == before


def test_a_forked_process_does_not_delete_the_folder():
    with TemporaryFolder() as folder:
        if (child := os.fork()) == 0:
            folder.close()
            os._exit(0)
        os.waitpid(child, 0)
        assert folder.path.is_dir()


def test_the_documents_of_a_join_are_in_a_temporary_folder(place):
    spool = Spool()
    location = spool.keep([1])
    assert (place / location.file).parent.parent == place
    del spool
    assert list(place.iterdir()) == []
