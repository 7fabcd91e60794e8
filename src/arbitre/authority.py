"""Names with their variants, in an authority file or in the schema, for the normaliser `authority`."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from arbitre.errors import SchemaError, did_you_mean, shown
from arbitre.parsing.csv_rows import CsvError, csv_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from arbitre.values import Json


OPTIONS: Final[Mapping[str, Mapping[str, Any]]] = {
    "file": {"type": "string", "minLength": 1},
    "names": {
        "type": "object",
        "additionalProperties": {"type": "array", "items": {"type": "string"}},
        "minProperties": 1,
    },
    "name": {"type": "string", "default": "name"},
    "variants": {"type": "string", "default": "variants"},
    "separator": {"type": "string", "minLength": 1},
    "delimiter": {"type": "string", "minLength": 1, "maxLength": 1},
    "ambiguous": {"enum": ["keep", "error"], "default": "keep"},
}
"""JSON Schema of each option of the normaliser. Exactly one of `file` and `names` is required."""

OF_FILES: Final = ("name", "variants", "separator", "delimiter")
"""Options that apply to `file` only."""

FORMATS: Final = (".json", ".jsonl", ".ndjson", ".csv", ".tsv")


@dataclass(frozen=True, slots=True)
class Authority:
    """Names with their variants, from an authority file or from a schema, after normalisation.

    Attributes:
        file: Name of the authority file; None if the names are in the schema.
        names: Number of distinct names.
        variants: Number of distinct variants, without the names themselves.
        ambiguous: Variants of several names, with these names in the order of the source. They are not mapped.
        table: The name of each other variant.
        declared: The options as a schema declares them, with the path of the file.
    """

    file: str | None
    names: int
    variants: int
    ambiguous: Mapping[str, tuple[str, ...]]
    table: Mapping[str, str]
    declared: Mapping[str, Json]

    @property
    def source(self) -> str:
        """The source of the names in words."""
        return "names in the schema" if self.file is None else f"authority file {self.file}"

    def name_of(self, text: str) -> str:
        """Return the name of a variant; any other text is unchanged."""
        return self.table.get(text, text)

    def check_unique(self) -> None:
        """Raise SchemaError if a variant belongs to several names."""
        if self.ambiguous:
            listed = "; ".join(f"{shown(text)}: {', '.join(map(shown, of))}" for text, of in self.ambiguous.items())
            raise SchemaError.of(
                f"Variants belong to several names ({self.source}): {listed}",
                pointer="/authority/ambiguous",
                hint='Remove them, or write "ambiguous": "keep" to leave such texts unchanged.',
            )


@dataclass(frozen=True, slots=True)
class AuthorityNames:
    """Names with their variants, as they are in an authority file or in a schema.

    Attributes:
        file: Name of the authority file; None if the names are in the schema.
        entries: Each name with its variants.
        options: The options that determine the result, with a hash of the file or of the names.
        unique: Whether variants of several names are an error.
        declared: The options as a schema declares them, with the path of the file.
    """

    file: str | None
    entries: tuple[tuple[str, tuple[str, ...]], ...]
    options: Mapping[str, Any]
    unique: bool
    declared: Mapping[str, Json]

    def normalized(self, normalize: Callable[[str], Json]) -> Authority:
        """Return the table of variants after names and variants are normalised.

        A text is ambiguous if it is a variant of two names, or a variant of one name and itself another name. Names
        and variants that are not texts after normalisation are left out.
        """
        claims: dict[str, dict[str, None]] = {}
        names: dict[str, None] = {}
        for raw, variants in self.entries:
            name = normalize(raw)
            if isinstance(name, str):
                names[name] = None
                for text in (name, *map(normalize, variants)):
                    if isinstance(text, str):
                        claims.setdefault(text, {})[name] = None
        return Authority(
            file=self.file,
            declared=self.declared,
            names=len(names),
            variants=sum(set(claimed) != {text} for text, claimed in claims.items()),
            ambiguous={text: tuple(claimed) for text, claimed in claims.items() if len(claimed) > 1},
            table={text: next(iter(claimed)) for text, claimed in claims.items() if len(claimed) == 1},
        )


def read_authority(options: Mapping[str, Any]) -> AuthorityNames:
    """Return the names and variants that the options of the normaliser define.

    Args:
        options: Either `names` (the variants of each name), or `file` (a path), `name` and `variants` (the keys or
            columns), and optionally `separator` (splits a text of several variants) and `delimiter` (of a table; by
            default it is detected).

    Raises:
        SchemaError: Not exactly one of `file` and `names` is given, the file cannot be read, or a record has no name or
            variants that are not texts.
    """
    declared = {key: value for key, value in options.items() if value != OPTIONS[key].get("default")}
    unique = options["ambiguous"] == "error"
    if ("file" in declared) == ("names" in declared):
        both = "both" if "file" in declared else "neither"
        hint = 'Write {"authority": {"file": ...}} or {"authority": {"names": {"name": ["variant"]}}}.'
        message = f"Expected `authority` to have either `file` or `names`, got {both}"
        raise SchemaError.of(message, pointer="/authority", hint=hint)
    if "file" in declared:
        file, entries, content = _file_entries(options)
        known = {"file": file} | {key: options[key] for key in OF_FILES if key in options}
        return AuthorityNames(file, entries, known | {"sha256": _digest(content)}, unique, declared)
    if refused := [key for key in OF_FILES if key in declared]:
        message = f"The option `{refused[0]}` of `authority` applies to a `file`, and not to `names`"
        raise SchemaError.of(message, pointer=f"/authority/{refused[0]}")
    names: Mapping[str, Sequence[str]] = options["names"]
    content = json.dumps(names, sort_keys=True).encode()
    entries = tuple((name, tuple(variants)) for name, variants in names.items())
    return AuthorityNames(None, entries, {"sha256": _digest(content)}, unique, declared)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _file_entries(options: Mapping[str, Any]) -> tuple[str, tuple[tuple[str, tuple[str, ...]], ...], bytes]:
    """Return the name of an authority file, its names with their variants, and its content."""
    path = Path(options["file"])
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise SchemaError.of(
            f"Expected an authority file with a suffix of {', '.join(FORMATS)}, got {shown(path.name)}",
            pointer="/authority/file",
        )
    try:
        content = path.read_bytes()
        text = content.decode("utf-8-sig")
    except OSError as error:
        hint = "The path is relative to the file that contains the annotation."
        message = f"Cannot read the authority file {path}: {error.strerror}"
        raise SchemaError.of(message, pointer="/authority/file", hint=hint) from error
    except UnicodeDecodeError as error:
        raise _wrong("Not valid UTF-8", path) from error
    read = _of_table if suffix in (".csv", ".tsv") else _of_records
    return path.name, tuple(read(text, path, options)), content


def _of_records(text: str, path: Path, options: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the names and variants of a JSON array of objects, or of JSON lines."""
    lines = path.suffix.lower() != ".json"
    try:
        records = [json.loads(line) for line in text.splitlines() if line.strip()] if lines else json.loads(text)
    except ValueError as error:
        raise _wrong(f"Not valid JSON: {error}", path) from error
    if not isinstance(records, list):
        raise _wrong(f"Expected an array of objects, got {shown(records)}", path)
    for number, record in enumerate(records):
        name = record.get(options["name"]) if isinstance(record, dict) else None
        if not isinstance(name, str) or not name:
            message = f"Expected an object with the name under {shown(options['name'])}, got {shown(record)}"
            raise _wrong(f"{message} as record {number + 1}", path)
        variants = record.get(options["variants"])
        several = variants if isinstance(variants, list) else [] if variants is None else [variants]
        if not all(isinstance(variant, str) for variant in several):
            message = f"Expected variants to be a text or a list of texts, got {shown(variants)}"
            raise _wrong(f"{message} in record {number + 1}", path)
        yield name, tuple(part for variant in several for part in _split(variant, options.get("separator")))


def _of_table(text: str, path: Path, options: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the name and the variants of each row of a table."""
    rows = csv_rows(io.StringIO(text, newline=""), options.get("delimiter"), suffix=path.suffix.lower())
    try:
        _, header = next(rows, (1, []))
        at = [_column(header, options[key], path) for key in ("name", "variants")]
        for line, cells in rows:
            if len(cells) != len(header):
                raise _wrong(f"Expected {len(header)} cells, got {len(cells)} in line {line}", path)
            name, variants = (cells[number] for number in at)
            if not name:
                raise _wrong(f"Expected a name, got an empty cell in line {line}", path)
            yield name, _split(variants, options.get("separator"))
    except CsvError as error:
        raise _wrong(f"Not valid CSV in the row after line {error.line}: {error}", path) from error


def _column(header: Sequence[str], name: str, path: Path) -> int:
    if header.count(name) != 1:
        hint = did_you_mean(name, header, "Set `name`, `variants` and `delimiter` in the schema.")
        raise _wrong(f"Expected one column {shown(name)}, got {header.count(name) or 'none'}", path, hint)
    return header.index(name)


def _wrong(message: str, path: Path, hint: str | None = None) -> SchemaError:
    return SchemaError.of(f"Authority file {path}: {message}", pointer="/authority/file", hint=hint)


def _split(text: str, separator: str | None) -> tuple[str, ...]:
    """Return the variants in a text; those separated by a separator without white space around them."""
    parts = [text] if separator is None else [part.strip() for part in text.split(separator)]
    return tuple(filter(None, parts))
