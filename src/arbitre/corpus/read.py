"""Files become records: one document each, under the id that joins gold and predicted."""

from __future__ import annotations

import io
import json
import re
import sys
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import regex

from arbitre.corpus import strict
from arbitre.errors import DataError
from arbitre.paths import pointer
from arbitre.values import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arbitre.paths import Path as Tokens
    from arbitre.values import Json

Side = Literal["gold", "predicted"]

STDIN: Final = "-"
RUN: Final = "run"
LINES: Final = frozenset({".jsonl", ".ndjson"})

_TIMEOUT: Final = 1.0
"""Seconds that a pattern may take on one file name."""
SHOWN: Final = 4
"""How many of several things a message names."""


@dataclass(frozen=True, slots=True)
class Record:
    """One document; `named` is false where its id is just the name of a file that holds nothing else."""

    id: str
    run: str | None
    value: Json
    file: str
    line: int | None = None
    named: bool = True


@dataclass(frozen=True, slots=True)
class Failure:
    """A document that cannot be had, as far as is known which one, where, and why."""

    side: Side
    id: str | None = None
    run: str | None = None
    file: str | None = None
    line: int | None = None
    pointer: str | None = None
    reason: str = field(kw_only=True)


def records(
    source: str | Path,
    side: Side,
    *,
    id_key: str = "id",
    id_pattern: str | None = None,
    max_depth: int = strict.MAX_DEPTH,
) -> Iterator[Record | Failure]:
    """The documents of a source, one by one, in a stable order: files by name, lines and items as they stand.

    * a folder: every `<id>.json` directly in it, each a document as it is; `id_pattern` (a regular expression, searched
      in the file name without `.json`) takes the id from a longer name: its group `id`, else its first group, else
      all of it; the run is its group `run`, else the whole name where that is not the id;
    * `.jsonl`, `.ndjson`: a record a line; `.json` with an array: a record an item. The key `id_key` (a text or an
      integer) holds the id, `run` the run where there is one; neither is part of the value;
    * `.json` with anything else: one document as it is, its id under `id_key`, else from the file name;
    * `-`: standard input, JSON or JSON lines.

    What is wrong with one document is a Failure. Raises DataError where the source as a whole cannot be read.
    """
    reader = _Reader(side, id_key, _compiled(id_pattern), max_depth)
    path = Path(source)
    if str(source) == STDIN:
        yield from reader.stream(sys.stdin.buffer.read())
    elif path.is_dir():
        yield from reader.folder(path)
    elif path.suffix.lower() in LINES:
        try:
            with path.open("rb") as lines:
                yield from reader.lines(lines, str(path))
        except OSError as error:
            raise strict.unreadable(path, error) from error
    elif path.suffix.lower() == ".json":
        yield from reader.whole(strict.load(path, max_depth=max_depth), str(path), path.stem)
    else:
        raise DataError.of(
            f"Expected a folder, a .json, .jsonl or .ndjson file, or - for standard input, got {str(source)!r}",
            file=str(path),
            hint="Check the name." if not path.exists() else "Rename the file after what it holds.",
        )


@dataclass(frozen=True, slots=True)
class _Reader:
    side: Side
    id_key: str
    pattern: regex.Pattern[str] | None
    max_depth: int

    def folder(self, folder: Path) -> Iterator[Record | Failure]:
        files = sorted((path for path in folder.glob("*.json") if path.is_file()), key=lambda path: path.name)
        if not files:
            raise DataError.of(
                "Expected a folder of <id>.json files, got none", file=str(folder), hint="Check the name of the folder."
            )
        for path in files:
            identity, run = None, None
            try:
                identity, run = self.named(path.stem)
                value = strict.load(path, max_depth=self.max_depth)
            except DataError as error:
                yield self.failure(error.located(file=str(path)), identity, run)
            else:
                yield Record(identity, run, value, str(path))

    def lines(self, lines: Iterable[bytes], file: str) -> Iterator[Record | Failure]:
        for number, raw in enumerate(lines, start=1):
            if not raw.strip():
                continue
            try:
                value = strict.parse(raw, file=file, line=number, max_depth=self.max_depth)
            except DataError as error:
                text = raw.decode(errors="replace")
                yield self.failure(error, _salvaged(text, self.id_key), _salvaged(text, RUN))
            else:
                yield self.record(value, file, number)

    def whole(self, value: Json, file: str, stem: str) -> Iterator[Record | Failure]:
        if not isinstance(value, list):
            yield self.single(value, file, stem)
        elif len(value) == 1 and not self.labelled(value[0]):
            yield self.single(value[0], file, stem)
        else:
            for position, item in enumerate(value):
                if not self.labelled(item):
                    raise self.unlabelled(item, (position,)).located(file=file)
                yield self.record(item, file, at=(position,))

    def stream(self, data: bytes) -> Iterator[Record | Failure]:
        """Standard input: lines, where it is neither one JSON value nor a broken array, and one line is a record."""
        file = "<stdin>"
        try:
            value = strict.parse(data, file=file, max_depth=self.max_depth)
        except DataError:
            found = tuple(self.lines(io.BytesIO(data), file))
            if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[") or not any(
                isinstance(item, Record) for item in found
            ):
                raise
            yield from found
        else:
            yield from replace(self, pattern=None).whole(value, file, "stdin")

    def record(self, value: Json, file: str, line: int | None = None, at: Tokens = ()) -> Record | Failure:
        """One record of several: its id and its run are labels, not part of what is compared."""
        if not self.labelled(value):
            return self.failure(self.unlabelled(value, at).located(file=file, line=line))
        identity, run = None, None
        try:
            identity = _label(value[self.id_key], (*at, self.id_key))
            if value.get(RUN) is not None:
                run = _label(value[RUN], (*at, RUN))
        except DataError as error:
            return self.failure(error.located(file=file, line=line), identity)
        rest = {key: item for key, item in value.items() if key not in {self.id_key, RUN}}
        return Record(identity, run, rest, file, line)

    def single(self, value: Json, file: str, stem: str) -> Record | Failure:
        """The only document of a file, as it is."""
        try:
            if self.labelled(value):
                return Record(_label(value[self.id_key], (self.id_key,)), None, value, file)
            identity, run = self.named(stem)
        except DataError as error:
            return self.failure(error.located(file=file))
        return Record(identity, run, value, file, named=self.pattern is not None)

    def named(self, stem: str) -> tuple[str, str | None]:
        """The id and the run that a file name holds. Raises DataError where the pattern finds no id in it."""
        if self.pattern is None:
            return stem, None
        try:
            match = self.pattern.search(stem, timeout=_TIMEOUT)
        except TimeoutError:
            raise DataError.of(
                f"Expected the id pattern to be done in {_TIMEOUT:g} s with {stem!r}, got no answer",
                hint="Avoid repetitions inside repetitions.",
            ) from None
        groups = self.pattern.groupindex
        others = (group for group in range(1, self.pattern.groups + 1) if group != groups.get(RUN))
        identity = match and match[groups.get("id") or next(others, 0)]
        if match is None or not identity:
            raise DataError.of(
                f"Expected the file name to match the id pattern {self.pattern.pattern!r}, got {stem!r}",
                hint="Correct --id-pattern, or move the file elsewhere.",
            )
        if RUN in groups:
            return identity, match[RUN]
        return identity, stem if stem != identity else None

    def labelled(self, value: Json) -> bool:
        return isinstance(value, dict) and self.id_key in value

    def unlabelled(self, value: Json, at: Tokens) -> DataError:
        found = f"the keys {listed(value)}" if isinstance(value, dict) else kind_of(value).name.lower()
        return DataError.of(
            f"Expected a record to be an object with its id under {self.id_key!r}, got {found}",
            pointer=pointer(at),
            hint="Name the key of the id with --id-key, or write one file per document, <id>.json, into a folder.",
        )

    def failure(self, error: DataError, identity: str | None = None, run: str | None = None) -> Failure:
        return Failure(self.side, identity, run, error.file, error.line, error.pointer, reason=error.message)


def listed(names: Iterable[str]) -> str:
    """The first few of the names, for a message.

    >>> listed("abcdef"), listed([])
    ("'a', 'b', 'c', 'd', ...", 'none')
    """
    shown = [repr(name) for name in islice(names, SHOWN + 1)]
    return ", ".join([*shown[:SHOWN], *["..."] * (len(shown) > SHOWN)]) or "none"


def _compiled(pattern: str | None) -> regex.Pattern[str] | None:
    if pattern is None:
        return None
    try:
        return regex.compile(pattern)
    except regex.error as error:
        raise DataError.of(
            f"Expected the id pattern to be a regular expression, got {pattern!r}: {error}",
            hint=r"As in --id-pattern 'page_\d+'.",
        ) from None


def _label(value: Json, at: Tokens) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise DataError.of(
        f"Expected {str(at[-1])!r} to be text or an integer, got {kind_of(value).name.lower()}",
        pointer=pointer(at),
        hint="Write it as text.",
    )


_TOKEN: Final = re.compile(r'"(?:[^"\\]++|\\.?)*+"?|[\[{]|[\]}]')  # a string may break off: the text is damaged
_LABEL: Final = re.compile(r'\s*+:\s*+("(?:[^"\\]++|\\.)*+"|-?\d++)(?=\s*+[,}])')


def _salvaged(text: str, key: str) -> str | None:
    """What a damaged record still shows under one of its own keys (not under a key of a value in it)."""
    quoted = json.dumps(key, ensure_ascii=False)
    level = 0
    for token in _TOKEN.finditer(text):
        if token[0] in "[{":
            level += 1
        elif token[0] in "]}":
            level -= 1
        elif level == 1 and token[0] == quoted:
            label = _LABEL.match(text, token.end())
            if label:
                try:
                    return _label(strict.parse(label[1]), (key,))
                except DataError:
                    return None
    return None
