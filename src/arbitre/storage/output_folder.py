"""Writes results without touching anything that arbitre did not write.

A folder of results contains `.arbitre-output`, a list of the files that arbitre wrote, with their sizes and digests.
Only a file that is on the list and unchanged is replaced or removed. New results are written to `.arbitre-new` in the
same folder, and renamed when they are complete. `.arbitre-lock` exists while a process writes.

Single files are listed in `.arbitre-files` in their folder, unless they belong to the results in it.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import stat
import sys
import warnings
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from glob import escape
from itertools import count
from operator import itemgetter
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TextIO, TypeAlias

from arbitre.errors import DataError
from arbitre.parsing.fast_json import json_text
from arbitre.storage.files import check_is_local, is_file_name, is_path_inside, remove_folders, unicode_only, unwritable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

MARKER: Final = ".arbitre-output"
"""Name of the list of files in a folder of results."""
STAGING: Final = ".arbitre-new"
"""Name of the folder for results that are not complete."""
LOCK: Final = ".arbitre-lock"
SINGLE_FILES: Final = ".arbitre-files"
"""Name of the list of single files in a folder that is not a folder of results."""

CHECKPOINT: Final = "documents/" + "[0-9]" * 9 + ".*"
"""Pattern of the names of checkpoints (see `Checkpoints`)."""

_FIRST_LINES: Final = {
    MARKER: "arbitre output folder, format 1",
    SINGLE_FILES: "arbitre output files, format 1",
    STAGING: "arbitre unfinished results, format 1",
}
_EXPLANATION: Final = "arbitre replaces or removes only the files in this list, and only while they are unchanged."
_UNFINISHED: Final = "Results of a run that has not finished. --resume continues it. Do not put files here."
_OWN: Final = frozenset({MARKER, STAGING, LOCK, SINGLE_FILES})
_DESKTOP: Final = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
"""Files that desktops write to empty folders."""
_SUGGESTED: Final = "arbitre-results"
_RESULTS: Final = frozenset({"evaluation.json", "ranking.json", "metricity.json"})
"""Files that show that a folder contains results, if their list is missing."""
_ALSO_SINGLE: Final = frozenset({"report.html"})
"""Files of results that can also be written alone; they are then added to the list of the results."""


ResultsKind: TypeAlias = Literal["evaluation", "ranking", "demo", "figures", "metricity", "consensus", "queue", "gold"]
_OPTIONS: Final = {"queue": "--queue"}
"""The option for the folder of a kind of results, if it is not `--out`."""


class FileState(NamedTuple):
    """Size of a file, and SHA-256 of its content."""

    size: int
    sha256: str

    @classmethod
    def of(cls, path: Path) -> FileState:
        """Return the state of a file."""
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            return cls(file.tell(), digest)


@dataclass(frozen=True, slots=True)
class FileList:
    """The files that arbitre wrote to a folder.

    Attributes:
        folder: The folder.
        name: Name of the list.
        states: States of each file, by its path relative to the folder. There are several while results are replaced.
        kind: The kind of results in the folder; "" for single files and results of earlier versions.
    """

    folder: Path
    name: str
    states: Mapping[str, Collection[FileState]] = field(default_factory=dict)
    kind: str = ""

    @classmethod
    def read(cls, folder: Path, name: str = MARKER) -> FileList | None:
        """Read the list of a folder; None if there is none that arbitre can have written."""
        path = folder / name
        if not _is_file(path):
            return None
        with suppress(OSError, ValueError, KeyError, TypeError, OverflowError):
            content, states = path.read_text(encoding="utf-8"), dict[str, set[FileState]]()
            records = [json.loads(line) for line in content.splitlines()[2:]]
            kind = str(records.pop(0)["kind"]) if records and "kind" in records[0] else ""
            for file, size, sha256 in map(itemgetter("file", "size", "sha256"), records):
                states.setdefault(str(file), set()).add(FileState(int(size), str(sha256)))
            found = cls(folder, name, states, kind)
            return found if found.text == content and all(map(is_path_inside, states)) else None
        return None

    @property
    def text(self) -> str:
        """The text of the list file."""
        lines = [_FIRST_LINES[self.name], _EXPLANATION, *([json.dumps({"kind": self.kind})] if self.kind else [])]
        for file, states in sorted(self.states.items()):
            lines += [json.dumps({"file": file, **state._asdict()}) for state in sorted(states)]
        return "\n".join(lines) + "\n"

    def recognises(self, file: str) -> bool:
        """Return whether a file is on the list, and has the content that arbitre wrote."""
        path, known = self.folder / file, self.states.get(file, ())
        try:
            status = path.lstat()
            if not stat.S_ISREG(status.st_mode) or all(state.size != status.st_size for state in known):
                return False
            return _below(self.folder, file) is None and FileState.of(path) in known
        except (OSError, ValueError):  # a name with a lone surrogate
            return False

    def write(self, staging: Path | None = None) -> None:
        """Write the list, atomically; `staging` is a folder for temporary files."""
        part = (staging or self.folder) / f".arbitre-{token_hex(4)}.part"
        try:
            _create(part, self.text)
            part.replace(self.folder / self.name)
        finally:
            part.unlink(missing_ok=True)


@dataclass(slots=True)
class _Results:
    """One folder of results: where it is, and where its new files are."""

    target: Path
    staged: Path
    known: FileList
    kind: ResultsKind
    seen: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def check(self, file: str) -> None:
        """Raise DataError if writing a file would replace something that arbitre did not write."""
        path = self.target / file
        if (above := _below(self.target, file)) is not None:
            raise _not_ours(above, self.kind)
        if os.path.lexists(path) and self.seen.get(file) != _signature(path):
            if not self.known.recognises(file):
                raise _not_ours(path, self.kind, changed=file in self.known.states and _is_file(path))
            self.seen[file] = _signature(path)

    def check_all(self, names: Collection[str]) -> None:
        """Raise DataError like `check` for each of these names; for a name in a subfolder, for all files in it."""
        for name in sorted(names):
            first, _, rest = name.partition("/")
            if rest and self.target.joinpath(first).is_dir() and _below(self.target, f"{first}/.") is None:
                for file in _files(self.target / first):
                    self.check(file.relative_to(self.target).as_posix())
            elif os.path.lexists(self.target / first):
                self.check(first)

    def publish(self, new: Mapping[str, FileState], staging: Path) -> None:
        """Move new files into place, and remove the old ones. If the process is killed, all are still recognised."""
        self.target.mkdir(exist_ok=True)
        old = self.known.states
        both = {file: {*old.get(file, ()), *([new[file]] if file in new else [])} for file in {*old, *new}}
        FileList(self.target, MARKER, both, self.kind).write(staging)
        for file in new:
            path = self.target / file
            path.parent.mkdir(parents=True, exist_ok=True)
            self.check(file)
            (self.staged / file).replace(path)
            (self.staged / file).unlink(missing_ok=True)  # a link to the same file is not moved
        for file in sorted(old.keys() - new.keys()):
            if self.known.recognises(file):
                (self.target / file).unlink()
                _remove_empty(self.target / file, self.target)
        FileList(self.target, MARKER, {file: {state} for file, state in new.items()}, self.kind).write(staging)


@contextmanager
def output_folder(
    folder: Path,
    names: Collection[str],
    kind: ResultsKind,
    *,
    inputs: Iterable[str | Path] = (),
    parts: Mapping[str, Collection[str]] | None = None,
    resume: bool = False,
    keep_checkpoints: bool = False,
    force: bool = False,
) -> Iterator[Path]:
    """Write results to a folder, all or none, without replacing other files.

    Checkpoints are kept if the block raises or the process is killed. Otherwise, they are removed when the results are
    in place.

    Args:
        folder: The folder: new, empty, or with earlier results.
        names: Names of all files that may be written, and `CHECKPOINT`.
        kind: The kind of results. Results of another kind are not replaced.
        inputs: Files and folders that are read.
        parts: Names of subfolders with the results of evaluations, each with the names of their files.
        resume: Whether to keep the checkpoints of earlier runs.
        keep_checkpoints: Whether the checkpoints belong to the results.
        force: Whether to write to a folder that already contains other files, which are kept.

    Yields:
        The folder to write to. Its files are moved when the block ends.

    Raises:
        DataError: The folder contains an input, files that arbitre did not write or results of another kind; another
            process writes to it; or a file cannot be written.
    """
    parts = parts or {}
    check_output_folder(folder, kind, inputs=inputs, parts=parts, force=force)
    staging, keeps = folder / STAGING, CHECKPOINT in names
    with ExitStack() as stack, _typed(folder):
        stack.callback(remove_folders, _missing_folders(folder))  # does nothing if there are files
        folder.mkdir(parents=True, exist_ok=True)
        stack.enter_context(_locked(folder, kind))
        results = _results(folder, kind, parts, force=force)
        _check_staging(staging, kind)
        for one, own in zip(results, ({*names} - {*parts}, *parts.values()), strict=True):
            one.check_all(own)
        fresh = FileList.read(folder) is None
        try:
            _prepare(staging, names, parts, results[0], resume=resume)
            if fresh:
                results[0].known.write(staging)
            yield staging
            temporary = () if keep_checkpoints else (CHECKPOINT,)
            found = [_states(one.staged, {part.staged for part in results[1:]}, temporary) for one in results]
        except BaseException:
            with suppress(OSError):
                if not _discard(staging, keep=keeps) and fresh:
                    (folder / MARKER).unlink(missing_ok=True)
            raise
        for one, new in zip(results, found, strict=True):
            one.known = FileList.read(one.target) or one.known
            for file in new:
                one.check(file)
        for one, new in zip(results, found, strict=True):
            one.publish(new, staging)
        _discard(staging)


@contextmanager
def _typed(path: Path) -> Iterator[None]:
    """Turn errors of the operating system into DataError, with a path if the error has none."""
    try:
        yield
    except OSError as error:
        raise unwritable(Path(os.fsdecode(error.filename)) if error.filename else path, error) from error


def final_folder(folder: Path) -> Path:
    """Return where a folder will be when the results in it are complete.

    >>> final_folder(Path("results/.arbitre-new/careful")).as_posix()
    'results/careful'
    """
    return Path(*(part for part in folder.parts if part != STAGING))


def check_output_folder(
    folder: Path,
    kind: ResultsKind,
    *,
    inputs: Iterable[str | Path] = (),
    parts: Collection[str] = (),
    force: bool = False,
) -> None:
    """Raise DataError if results must not be written to a folder; arguments as for `output_folder`."""
    check_is_local(folder)
    root = folder.resolve()
    for source in inputs:
        resolved = Path(source).resolve()
        if str(source) != "-" and (root == resolved or root in resolved.parents):
            raise DataError.of(
                "The output folder is an input"
                if root == resolved
                else f"The output folder contains an input: {Path(source).as_posix()}",
                file=str(folder),
                hint=f"Choose another folder, such as {_suggestion(folder, kind)}.",
            )
    if os.path.lexists(folder) and not folder.is_dir():
        raise DataError.of(
            "Expected a folder for the results, got a file",
            file=str(folder),
            hint=f"Choose a folder, such as {_suggestion(folder, kind)}.",
        )
    with _typed(folder):
        _results(folder, kind, parts, force=force)


def _results(folder: Path, kind: ResultsKind, parts: Collection[str], *, force: bool) -> list[_Results]:
    """Return the folder and its parts. Raises DataError for files of others or results of another kind."""
    lock, results = folder / LOCK, [_one(folder, folder / STAGING, kind, force=force)]
    if os.path.lexists(lock) and (not _is_file(lock) or lock.lstat().st_size):
        raise _not_ours(lock, kind)
    for part in parts:
        if not is_file_name(part) or part in _OWN:
            raise DataError.of(f"The name {part!r} cannot be used as a folder name", hint="Choose another name.")
        if (taken := _below(folder, f"{part}/.")) is not None:
            raise _not_ours(taken, kind)
        results.append(_one(folder / part, folder / STAGING / part, "evaluation", force=force))
    return results


def _one(target: Path, staged: Path, kind: ResultsKind, *, force: bool) -> _Results:
    known = FileList.read(target)
    entries = sorted(path.name for path in target.iterdir()) if target.is_dir() else []
    if known is None and MARKER in entries:
        raise _not_ours(target / MARKER, kind, changed=_is_file(target / MARKER))
    own = _OWN | _DESKTOP if _is_staging(target / STAGING) else _OWN - {STAGING} | _DESKTOP
    foreign = [name for name in entries if name not in own]
    if known is None and (found := sorted(_RESULTS.intersection(foreign))):
        raise DataError.of(
            f"The output folder contains results such as {found[0]}, but not {MARKER}, the list of their files",
            file=str(target),
            hint="Without it, arbitre cannot tell whether it wrote them. They were copied without the list, or written "
            f"by an earlier version. Delete them, or choose another folder, such as {_suggestion(target, kind)}.",
        )
    if known is None and foreign and not force:
        raise DataError.of(
            f"The output folder contains files that arbitre did not write, such as {foreign[0]}",
            file=str(target),
            hint=f"Choose another folder, such as {_suggestion(target, kind)}. With --force, the results are written "
            "beside these files, without replacing any of them.",
        )
    if (known := known or FileList(target, MARKER, kind=kind)).states and known.kind != kind:
        other = f"another kind: {known.kind}" if known.kind else "an earlier version"
        hint = f"Choose another folder, such as {_suggestion(target, kind)}."
        raise DataError.of(f"The output folder contains results of {other}", file=str(target), hint=hint)
    return _Results(target, staged, known, kind)


def _check_staging(staging: Path, kind: ResultsKind) -> None:
    """Raise DataError if the name of the staging folder is taken, or if other files are in it."""
    if os.path.lexists(staging):
        if not _is_staging(staging):
            raise _not_ours(staging, kind)
        own = {*_staged(staging)}
        for file in _files(staging):
            if file not in own:
                raise _not_ours(file, kind)


def _is_staging(staging: Path) -> bool:
    """Return whether a folder was created for unfinished results, possibly by a process that was killed at once."""
    if staging.is_symlink() or not staging.is_dir():
        return False
    return _patterns(staging) is not None or all(map(_is_part, _files(staging)))


def _patterns(staging: Path) -> list[str] | None:
    """Return the patterns of the file names in a staging folder; None if it is not marked."""
    try:
        *head, names = (staging / MARKER).read_text(encoding="utf-8").splitlines()
        patterns = [str(pattern) for pattern in json.loads(names)]
    except (OSError, ValueError, TypeError):
        return None
    return patterns if head == [_FIRST_LINES[STAGING], _UNFINISHED] and _is_file(staging / MARKER) else None


def _staged(staging: Path) -> Iterator[Path]:
    """Yield the files in a staging folder that arbitre wrote."""
    patterns = [MARKER, *(_patterns(staging) or ())]
    for file in _files(staging):
        name = file.relative_to(staging).as_posix()
        known = any(fnmatchcase(one, pattern) for pattern in patterns for one in (name, name.removesuffix(".part")))
        if (known and _is_file(file)) or _is_part(file):
            yield file


def _is_part(file: Path) -> bool:
    """Return whether a file is a list that was not completely written."""
    if not fnmatchcase(file.name, ".arbitre-????????.part") or not _is_file(file):
        return False
    start = file.read_bytes()[: min(map(len, _FIRST_LINES.values()))]
    return any(first.encode().startswith(start) for first in _FIRST_LINES.values())


def _prepare(
    staging: Path, names: Iterable[str], parts: Mapping[str, Iterable[str]], results: _Results, *, resume: bool
) -> None:
    """Create an empty staging folder; with `resume`, one with the checkpoints of earlier runs."""
    if staging.exists():
        _discard(staging, keep=resume)
    staging.mkdir(exist_ok=True)
    patterns = [
        (f"{escape(part)}/" if part else "") + (name if name == CHECKPOINT else escape(name))
        for part, own in {"": names, **parts}.items()
        for name in own
    ]
    text = [_FIRST_LINES[STAGING], _UNFINISHED, json.dumps(patterns)]
    if not (staging / MARKER).exists():
        part = staging / f".arbitre-{token_hex(4)}.part"
        _create(part, "\n".join(text) + "\n")
        part.replace(staging / MARKER)
    if resume:
        for file in results.known.states:
            if fnmatchcase(file, CHECKPOINT) and not (staging / file).exists() and results.known.recognises(file):
                (staging / file).parent.mkdir(exist_ok=True)
                try:
                    os.link(results.target / file, staging / file)
                except OSError:  # not supported by the file system
                    shutil.copyfile(results.target / file, staging / file)


def _discard(staging: Path, *, keep: bool = False) -> bool:
    """Remove a staging folder; with `keep`, everything but the checkpoints. Return whether checkpoints remain."""
    kept = False
    for file in [file for file in _staged(staging) if file != staging / MARKER]:
        if keep and fnmatchcase(file.relative_to(staging).as_posix(), CHECKPOINT) and file.suffix != ".part":
            kept = True
        else:
            file.unlink()
    if not kept:
        for folder, _, _ in os.walk(staging, topdown=False):
            if Path(folder) == staging and {*staging.iterdir()} == {staging / MARKER}:
                (staging / MARKER).unlink()
            remove_folders([Path(folder)])
    return kept


def _states(staged: Path, parts: Collection[Path], temporary: Collection[str]) -> dict[str, FileState]:
    """Return the states of the new files of a folder of results, by their relative paths; without temporary files."""
    if not staged.is_dir():
        return {}
    files = {file.relative_to(staged).as_posix(): file for file in _files(staged, without=parts)}
    kept = (name for name in files if name != MARKER and not any(fnmatchcase(name, one) for one in temporary))
    return {name: FileState.of(files[name]) for name in kept}


@contextmanager
def output_file(path: Path) -> Iterator[Path]:
    """Write a single file, atomically.

    Yields:
        A temporary file in the same folder. It is renamed when the block ends, and deleted if the block raises.

    Raises:
        DataError: There is a file that arbitre did not write, or the file cannot be written.
    """
    output_path(path)
    created = _missing_folders(path.parent)
    part = path.with_name(f".arbitre-{token_hex(4)}.part")
    with _typed(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            _create(part)
            yield part
            with _locked(path.parent) if _list_of(path).name == MARKER else nullcontext():
                known, state = _list_of(path), FileState.of(part)
                states = {name: states for name, states in known.states.items() if os.path.lexists(path.parent / name)}
                states[path.name] = {*states.get(path.name, ()), state}
                replace(known, states=states).write()  # recognises both, if this process is killed
                _check_file(path)
                part.replace(path)
                replace(known, states=states | {path.name: {state}}).write()
        except BaseException:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            remove_folders(created)
            raise


@contextmanager
def output_text_file(path: Path) -> Iterator[TextIO]:
    """Open a single text file like `atomic_text_file`. It replaces only a file that arbitre wrote (`output_file`)."""
    with unicode_only(path), output_file(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        yield file


def write_json(value: object, path: Path | None) -> None:
    """Write indented JSON to a single file, like `output_text_file`; write nothing if `path` is None."""
    if path is not None:
        with output_text_file(path) as file:
            file.write(json_text(value))


def output_path(path: Path, *, inputs: Iterable[str | Path] = (), force: bool | None = None) -> Path:
    """Return the path that a single file is written to.

    Args:
        path: The path; new, or that of a file that arbitre wrote.
        inputs: Files that are read.
        force: Whether to return another, new path if there is a file that arbitre did not write. None if the caller has
            no such option: then the error does not suggest it.

    Raises:
        DataError: There is a file that arbitre did not write, or the path is that of an input.
    """
    check_is_local(path)
    if any(Path(source).resolve() == path.resolve() for source in inputs):
        raise DataError.of("The output file is an input", file=str(path), hint="Choose another name.")
    try:
        with _typed(path):
            _check_file(path, force=force)
    except DataError:
        if not force or path.is_dir() or not os.path.lexists(path):
            raise
        names = (path.with_name(f"{path.stem}-{number}{path.suffix}") for number in count(2))
        return next(name for name in names if not os.path.lexists(name))
    return path


def destination(out: str | Path | None, *, inputs: Iterable[str | Path] = (), force: bool | None = None) -> Path | None:
    """Return the path that a single file is written to, like `output_path`; None if there is none.

    Warns if it is not `out`.
    """
    if out is None:
        return None
    path = output_path(Path(out), inputs=inputs, force=force)
    if path != Path(out):
        warnings.warn(renamed(Path(out), path), stacklevel=3)
    return path


def renamed(out: Path, path: Path) -> str:
    """Return the note on a file that is written to another path."""
    return f"{out.as_posix()} is not replaced: arbitre did not write its content. Writing {path.as_posix()} instead."


def paths_among(sources: object) -> list[str | Path]:
    """Return the paths in a source, or in a list or tuple of sources."""
    items = sources if isinstance(sources, list | tuple) else [sources]
    return [item for item in items if isinstance(item, str | Path)]


def _check_file(path: Path, *, force: bool | None = None) -> None:
    if path.is_dir():
        raise DataError.of("Expected a file, got a folder", file=str(path), hint="Name a file in it.")
    known = path.parent / SINGLE_FILES
    if os.path.lexists(known) and FileList.read(path.parent, SINGLE_FILES) is None:
        raise _not_ours(known)
    if os.path.lexists(path) and not _list_of(path).recognises(path.name):
        changed = path.name in _list_of(path).states
        problem = "has been changed since arbitre wrote it" if changed else "exists, and arbitre did not write it"
        other = "" if force is None else ", or use --force to write to a new file beside it"
        raise DataError.of(f"The file {problem}", file=str(path), hint=f"Choose another name{other}.")


def _list_of(path: Path) -> FileList:
    """Return the list that contains a single file, or that it is added to."""
    results = FileList.read(path.parent) if path.name in _ALSO_SINGLE else None
    if results is not None:
        return results
    return FileList.read(path.parent, SINGLE_FILES) or FileList(path.parent, SINGLE_FILES)


@contextmanager
def _locked(folder: Path, kind: str = "") -> Iterator[None]:
    """Lock a folder. The lock of a process that was killed is released. Raises DataError if another process has it."""
    path = folder / LOCK
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        try:
            _lock(handle)
            if os.path.lexists(path) and os.path.samestat(os.fstat(handle), path.lstat()):
                break
        except BlockingIOError:
            os.close(handle)
            raise DataError.of(
                "Another process is writing to the output folder",
                file=str(folder),
                hint=f"Wait until it has finished, or choose another folder, such as {_suggestion(folder, kind)}.",
            ) from None
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # another process removed the file in the meantime
    try:
        yield
    finally:
        try:
            with suppress(OSError):
                if not os.fstat(handle).st_size:  # otherwise, it is a file of the user
                    path.unlink()
        finally:
            _unlock(handle)
            os.close(handle)


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise BlockingIOError(*error.args) from error

    def _unlock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(handle: int) -> None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in {errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK}:  # file systems without locks
                raise

    def _unlock(handle: int) -> None:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_UN)  # also for worker processes, which inherit it


def _create(path: Path, text: str = "") -> None:
    """Create a file that does not exist yet."""
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.write(text)


def _is_file(path: Path) -> bool:
    """Return whether there is a regular file, not a link to one."""
    return path.is_file() and not path.is_symlink()


def _below(folder: Path, file: str) -> Path | None:
    """Return the first path between a folder and a file that exists, but is not a folder; None if there is none."""
    path = folder
    for name in Path(file).parts[:-1] if not file.endswith("/.") else Path(file).parts:
        path /= name
        if path.is_symlink() or (path.exists() and not path.is_dir()):
            return path
    return None


def _files(folder: Path, without: Collection[Path] = ()) -> Iterator[Path]:
    """Yield everything in a folder and its subfolders except folders, without following links."""
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        path = folder / entry.name
        if not entry.is_dir(follow_symlinks=False):
            yield path
        elif path not in without:
            yield from _files(path, without)


def _signature(path: Path) -> tuple[int, ...]:
    """Return metadata of a file that changes whenever it is written."""
    status = path.lstat()
    return status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _missing_folders(folder: Path) -> list[Path]:
    """Return a folder and those above it that do not exist, the innermost first."""
    return [path for path in (folder, *folder.parents) if not os.path.lexists(path)]


def _remove_empty(file: Path, root: Path) -> None:
    """Remove the folders between a removed file and a root that are empty."""
    with suppress(OSError):
        for folder in file.parents:
            if root not in folder.parents:
                break
            folder.rmdir()


def _suggestion(folder: Path, kind: str) -> str:
    """Return the option of a kind of results for a folder that does not exist."""
    inside = folder.name in {"", ".."} or (folder.is_dir() and FileList.read(folder) is None)
    parent, name = (folder, _SUGGESTED) if inside else (folder.parent, folder.name)
    names = (name if number == 1 else f"{name}-{number}" for number in count(1))
    free = next(parent / one for one in names if not os.path.lexists(parent / one))
    return f"{_OPTIONS.get(kind, '--out')} {free.as_posix()}"


def _not_ours(path: Path, kind: str = "", *, changed: bool = False) -> DataError:
    reason = "This file has been changed since arbitre wrote it" if changed else "arbitre did not write this file"
    if path.is_dir() and not path.is_symlink():
        reason = "arbitre did not create this folder"
    option = f" with {_OPTIONS.get(kind, '--out')} DIR" if kind else ""  # single files are named by several options
    return DataError.of(
        f"{reason}: it is not replaced",
        file=str(path),
        hint=f"Move it to another place, or choose another folder{option}.",
    )
