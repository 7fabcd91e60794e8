"""Reads the records of a source, for commands that stop at the first unreadable record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arbitre.errors import DataError
from arbitre.inputs.options import source_records
from arbitre.inputs.records import Record
from arbitre.paths import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arbitre.values import Json


def read_records(source: str, id_key: str) -> Iterator[Record]:
    """Yield the records of a source. Raises DataError at the first one that cannot be read."""
    for record in source_records(source, id_key):
        if not isinstance(record, Record):
            raise DataError.of(record.reason, file=record.file, line=record.line, pointer=record.pointer)
        yield record


def logprobs_at(value: Json, pointer: str) -> Json:
    """Return the log-probabilities at a JSON Pointer of a record. Raises DataError if there are none."""
    try:
        for token in parse(pointer):
            value = value[int(str(token))] if isinstance(value, list) else value[str(token)]
    except (KeyError, IndexError, TypeError, ValueError):
        hint = "Pass their JSON Pointer with --logprobs, such as /choices/0/logprobs."
        raise DataError.of("Expected log-probabilities, got none", pointer=pointer, hint=hint) from None
    return value
