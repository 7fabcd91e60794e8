"""Finds the files of a project, and writes a config file that names them, as `arbitre init` does."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from arbitre.comparator.schemas import infer_schema
from arbitre.config import NAME
from arbitre.errors import ArbitreError, DataError, SchemaError
from arbitre.inputs.csv_table import CsvTable
from arbitre.inputs.document_ids import normalized_id
from arbitre.inputs.open_files import SIDECAR, open_source, read_lines, split_name
from arbitre.inputs.options import ReadOptions
from arbitre.inputs.reader import CELLS, DOCUMENT, LINES, RAW, TABLE, Reader
from arbitre.inputs.records import Record
from arbitre.parsing import strict_json
from arbitre.parsing.fast_json import compact
from arbitre.parsing.repaired_json import read_answer
from arbitre.schema.loading.load_schema import check_is_schema, is_schema_like, wrapped_schemas
from arbitre.schema.loading.schema_store import read_file
from arbitre.storage.output_folder import MARKER, output_path, output_text_file
from arbitre.values import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from arbitre.comparator.schemas import InferredSchema
    from arbitre.inputs.records import Failure
    from arbitre.values import Json

GOLD_NAMES: Final = ("gold", "truth", "reference", "expected", "annotated")
"""Parts of file names that show that documents are gold, the most certain first."""
MOST_RECORDS: Final = 1000
"""Maximum number of documents of a system whose ids are searched for the forms of gold ids."""
MOST_TEXTS: Final = 20
"""Maximum number of texts of a folder that are searched for JSON, and of gold documents they are compared with."""
MOST_FORMS: Final = 3
"""Maximum number of forms of ids, such as `page_01` and `cover`, that a pattern lists."""
_SEPARATOR: Final = re.compile(r"[-_. ]")
"""Separates an id from a run in file names."""


@dataclass(frozen=True, slots=True)
class NewConfig:
    """A config file created by `init_config`.

    Attributes:
        path: The config file.
        schema: The schema: its file, or `FILE#/pointer` if it is wrapped in another object, as an API expects.
        inferred: The schema that was inferred from gold and written; None if there already was one.
        gold: The gold documents.
        systems: The predictions of each system; empty if no other documents share ids with gold.
        options: The options that the files need.
        notes: What was left out, and why.
    """

    path: Path
    schema: Path
    inferred: InferredSchema | None
    gold: Path
    systems: Mapping[str, Path]
    options: Mapping[str, Json]
    notes: tuple[str, ...]


def init_config(folder: str | Path = Path(), *, force: bool = False) -> NewConfig:
    """Create `arbitre.toml` for the gold, the predictions and the schema in a folder, as `arbitre init` does.

    Gold is the file or folder whose name contains gold, truth, reference, expected or annotated, as a whole word if
    possible. A file with a single document is gold only if there is no other gold. Every other file or folder of
    documents that shares ids with gold is treated as a system, unless its name contains one of these words. These
    include folders of `.txt` or `.md` files if most of their first 20 texts contain valid JSON of the same type as the
    gold documents (an object or a list); the config file then sets `lenient`. If there is no schema, one is inferred
    from gold and written to `schema.json`. If records store their id under a key other than `id`, the key is detected.
    If the file names of predictions are ids of gold followed by a run or a model, as in `page_02_run1.json`, the config
    file gets an `id_pattern` that finds both.

    Args:
        folder: The project folder. Its direct subfolders are searched as well.
        force: If a file of the same name exists that arbitre did not write, write to a new file beside it.

    Raises:
        DataError: The folder does not exist, there is no gold, or a file exists that arbitre did not write.
    """
    root = Path(folder)
    if not root.is_dir():
        raise DataError.of(
            "Expected a folder, got a file" if root.exists() else "The folder does not exist",
            file=str(root),
            hint="Check the name of the folder.",
        )
    target = output_path(root / NAME, force=force)
    sources, notes = [*_sources(root)], list[str]()
    if not any(_gold_rank(path) is not None for path in sources):
        sources = [*_sources(root, single=True)]
    gold, *unused = _gold(root, sources)
    notes += [f"{path.as_posix()}: not used, the gold is {gold.as_posix()}" for path in unused]
    files = [path for path in _settings_files(root) if path not in sources]
    overlays = [path for path in files if "overlay" in path.name.lower()]
    schemas = []
    for path in files:
        if path not in overlays:
            try:
                schemas.append(Path(f"{path}#{place}") if (place := _schema_place(path)) else path)
            except ArbitreError as error:
                if path.parent not in sources:
                    notes.append(f"{path.as_posix()}: not used as the schema. {error.message}.")
    others = [path for path in sources if path != gold and path not in unused]
    others += (answers := [*_answer_folders(root, sources, gold)])
    options = _id_options(gold, others)
    reading = ReadOptions(**options)
    ids = _ids(gold, reading)
    systems: dict[str, Path] = {}
    for path in others:
        if _shares_id(path, reading, ids):
            systems[_system_name(root, path, systems)] = path
        else:
            hint = _id_hint(path, ids, _ids(path, reading, MOST_RECORDS))
            notes.append(f"{path.as_posix()}: not a system, no document has an id of gold{hint}")
    options |= {"lenient": True} if any(path in answers for path in systems.values()) else {}
    notes += [f"{path.as_posix()}: not used, there is another schema" for path in schemas[1:]]
    inferred = None
    if not schemas:
        schemas = [output_path(root / "schema.json", force=force)]
        inferred = infer_schema(gold, out=schemas[0], id_key=reading.id_key)
        notes += inferred.skipped
    with output_text_file(target) as file:
        file.write(_toml(root, schemas[0], overlays[:1], gold, systems, options))
    return NewConfig(target, schemas[0], inferred, gold, systems, options, tuple(notes))


def _sources(root: Path, *, single: bool = False) -> Iterator[Path]:
    """Yield the files and folders of documents in a folder, in its folders and in their folders.

    With `single`, also yield files that may contain a single document, or that cannot be read.
    """
    for path in _entries(root):
        if path.is_dir():
            if _is_documents(path):
                yield path
            else:
                yield from (
                    below
                    for below in _entries(path)
                    if _is_documents(below) or (below.is_file() and _is_corpus_file(below, single=single))
                )
        elif _is_corpus_file(path, single=single):
            yield path


def _entries(folder: Path) -> list[Path]:
    """Return the entries of a folder by name, without hidden ones; none of a folder of results."""
    entries = sorted(folder.iterdir())
    return [] if folder / MARKER in entries else [path for path in entries if not path.name.startswith(".")]


def _is_documents(path: Path) -> bool:
    """Return whether a path is a folder of `.json` files that are not schemas."""
    return path.is_dir() and any(
        split_name(one)[1] == DOCUMENT and one.is_file() and not _is_schema(one) for one in _entries(path)
    )


def _answer_folders(root: Path, sources: list[Path], gold: Path) -> Iterator[Path]:
    """Yield the folders of raw answers in a folder and its direct subfolders; skip sources and what they contain."""
    types = _types(gold)
    folders = [path for path in _entries(root) if path.is_dir() and path not in sources]
    below = [path for folder in folders for path in _entries(folder) if path.is_dir() and path not in sources]
    for folder in (*folders, *below):
        found = [_answer_type(path) in types for path in _answers(folder)[:MOST_TEXTS]]
        if 2 * sum(found) > len(found) and _gold_rank(folder) is None:
            yield folder


def _types(gold: Path) -> set[type]:
    """Return the types of the first gold documents; none if gold cannot be read."""
    try:
        first = [*islice(_documents(gold, ReadOptions()), MOST_TEXTS)]
    except ArbitreError:
        return set()
    return {type(one.value) for one in first if isinstance(one, Record)}


def _answers(folder: Path) -> list[Path]:
    """Return the files of a folder that may be raw answers."""
    return [path for path in _entries(folder) if split_name(path)[1] in RAW and path.is_file()]


def _answer_type(path: Path) -> type | None:
    """Return the type of the valid JSON in a raw answer; None if there is none."""
    try:
        with open_source(path) as file:
            return type(read_answer(file.read(MAX_BYTES + 1), strictness="embedded").value)
    except ArbitreError:
        return None


def _is_corpus_file(path: Path, *, single: bool) -> bool:
    """Return whether a file contains several documents, or may contain a single one."""
    suffix = split_name(path)[1]
    if suffix == DOCUMENT:
        own = not path.name.endswith(SIDECAR) and not _is_schema(path)
        return own and (single or any(True for _ in _records(path)))
    return suffix in {*LINES, *CELLS, TABLE}


def _settings_files(root: Path) -> Iterator[Path]:
    """Yield the files in a folder and in its folders whose names mark them as schemas or overlays, nearest first."""
    folders = [root, *(path for path in _entries(root) if path.is_dir())]
    yield from (
        path
        for folder in folders
        for path in _entries(folder)
        if path.is_file() and path.suffix in {".json", ".yaml", ".yml"} and _is_settings_name(path)
    )


def _is_settings_name(path: Path) -> bool:
    return any(word in path.name.lower() for word in ("schema", "overlay"))


def _is_schema(path: Path) -> bool:
    """Return whether a file is a schema or an overlay, by its name and its content."""
    try:
        if _is_settings_name(path) and "overlay" not in path.name.lower():
            _schema_place(path)
    except ArbitreError:
        return False
    return _is_settings_name(path)


def _schema_place(path: Path) -> str:
    """Return the JSON Pointer of the only schema in a file; "" if it is the whole file.

    Raises:
        SchemaError: The file cannot be read, or contains no schema, or several.
    """
    contents = read_file(path, "schema")
    if is_schema_like(contents):
        return ""
    places = wrapped_schemas(contents) if isinstance(contents, dict) else []
    if len(places) != 1:
        check_is_schema(contents, str(path))
        raise SchemaError.of("Expected a JSON Schema, got a value without its keywords", file=str(path))
    return places[0]


def _name(path: Path) -> str:
    return split_name(path)[0].lower()


def _gold_rank(path: Path) -> int | None:
    """Return the rank of a name as a name for gold, whole words first; None if it contains none of `GOLD_NAMES`."""
    name = _name(path)
    found = [at for at, word in enumerate(GOLD_NAMES) if word in name]
    whole = [at for at in found if GOLD_NAMES[at] in re.findall("[a-z]+", name)]
    return min(whole, default=min(found) + len(GOLD_NAMES)) if found else None


def _gold(root: Path, sources: list[Path]) -> list[Path]:
    """Return the sources whose name contains a word for gold, the most certain first."""
    ranked = [(rank, path) for path in sources if (rank := _gold_rank(path)) is not None]
    if ranked:
        return [path for _, path in sorted(ranked, key=lambda one: one[0])]
    found = f": {', '.join(path.name for path in sources)}" if sources else ""
    raise DataError.of(
        f"Expected a file or a folder of documents whose name contains {', '.join(GOLD_NAMES)}, got none{found}",
        file=str(root),
        hint="Rename the gold documents, or write arbitre.toml by hand.",
    )


def _records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects in a file with several documents, up to the first invalid one."""
    suffix = split_name(path)[1]
    try:
        if suffix in LINES:
            with open_source(path) as file:
                values: Iterable[Any] = (strict_json.parse(line) for line, _ in read_lines(file))
                yield from (value for value in values if isinstance(value, dict))
            return
        if suffix in CELLS:
            values = (row for _, row in CsvTable(path, (), "").rows())
        else:
            loaded = strict_json.load(path) if suffix == DOCUMENT else None
            values = loaded if isinstance(loaded, list) else []
        yield from (value for value in values if isinstance(value, dict))
    except (ArbitreError, OSError):
        return


def _documents(path: Path, reading: ReadOptions) -> Iterator[Record | Failure]:
    """Yield the documents of a source. Raw answers that are not strict JSON are failures, but these have ids too.

    Raises:
        DataError: The source cannot be read.
    """
    reader = Reader.of("gold", reading)
    raw = path.is_dir() and not _is_documents(path)
    return map(reader.document, _answers(path)) if raw else reader.records(path)


def _ids(path: Path, reading: ReadOptions, most: int | None = None) -> set[str]:
    """Return the ids of all documents of a source, or of the first ones; none if it cannot be read."""
    try:
        return {str(record.id) for record in islice(_documents(path, reading), most)} - {"None"}
    except ArbitreError:
        return set()


def _shares_id(path: Path, reading: ReadOptions, ids: set[str], form: Callable[[str], str] = str) -> bool:
    """Return whether the id of a document is one of some ids; a source is read up to the first such document."""
    try:
        return any(record.id is not None and form(str(record.id)) in ids for record in _documents(path, reading))
    except ArbitreError:
        return False


def _id_options(gold: Path, others: list[Path]) -> dict[str, Any]:
    """Return the options by which documents of gold and of other sources have the same ids."""
    records = [] if gold.is_dir() else [*_records(gold)]
    if records and not all("id" in record for record in records):
        in_gold: dict[str, set[str]] = {}
        for name in records[0]:
            values = [record.get(name) for record in records]
            texts = {str(value) for value in values if isinstance(value, (str, int)) and not isinstance(value, bool)}
            if len(texts) == len(records):
                in_gold[name] = texts
        shared = Counter(
            name
            for path in others
            for record in (_records(path) if in_gold else ())
            for name, texts in in_gold.items()
            if str(record.get(name)) in texts
        )
        if shared:
            key, _ = max(shared.items(), key=lambda item: (item[1], "id" in item[0].lower()))
            return {"id_key": key}
    reading = ReadOptions()
    ids = _ids(gold, reading)
    if not ids or any(_shares_id(path, reading, ids) for path in others):
        return {}
    normalized = {*map(normalized_id, ids)}
    if any(_shares_id(path, reading, normalized, normalized_id) for path in others):
        return {"normalize_ids": True}
    longer = [path for path in others if any(_with_run(ids, one) for one in _ids(path, reading, MOST_RECORDS))]
    for pattern in _run_patterns(ids) if longer else ():
        reading = ReadOptions(id_pattern=pattern)
        if _ids(gold, reading) == ids and all(_shares_id(path, reading, ids) for path in longer):
            return {"id_pattern": pattern}
    return {}


def _with_run(ids: set[str], longer: str) -> bool:
    """Return whether a text is one of the ids, a separator and more."""
    return any(longer[: one.start()] in ids for one in _SEPARATOR.finditer(longer, 0, len(longer) - 1))


def _run_patterns(ids: set[str]) -> Iterator[str]:
    """Yield patterns that find one of the ids at the beginning of a file name, and the run after it, if any."""
    texts = {re.sub(r"\d+", r"\\d+", re.escape(one)) for one in ids}
    if len(texts) <= MOST_FORMS:
        yield f"^(?P<id>{'|'.join(sorted(sorted(texts), key=len, reverse=True))})(?:{_SEPARATOR.pattern}(?P<run>.+))?$"
    for separator in ("_", "-"):
        counts = {one.count(separator) for one in ids}
        if len(counts) == 1:
            part = f"[^{separator}]+"
            first = "".join([part, *[separator + part] * counts.pop()])
            yield f"^(?P<id>{first})(?:{separator}(?P<run>.+))?$"


def _id_hint(path: Path, ids: set[str], found: set[str]) -> str:
    """Return an id of gold and one of another source, and how ids are found."""
    if not ids or not found:
        return ""
    if len(ids) == len(found) == 1 and split_name(path)[1] == DOCUMENT:
        shown = f" (in gold: {min(ids)!r}, here: {min(found)!r})"
        return f"{shown}. If this file is the prediction for the only gold document, name it under [systems]."
    option = "--id-pattern (in arbitre.toml: id_pattern)" if path.is_dir() else "--id-key (in arbitre.toml: id_key)"
    where = "file names contain more than the id" if path.is_dir() else "records store the id under another key"
    return f" (in gold: {min(ids)!r}, here: {min(found)!r}). If its {where}, use {option}."


def _system_name(root: Path, path: Path, taken: Mapping[str, Path]) -> str:
    """Return the name of a system: that of its file or folder, with that of the folder above if it is taken."""
    name = split_name(path)[0]
    return name if name not in taken else "-".join([*path.relative_to(root).parts[:-1], name])


def _toml(  # noqa: PLR0917  (the parts of the file)
    root: Path,
    schema: Path,
    overlays: list[Path],
    gold: Path,
    systems: Mapping[str, Path],
    options: Mapping[str, Json],
) -> str:
    """Return the text of a config file. JSON strings, numbers and booleans are also TOML."""

    def shown(path: Path) -> str:
        return compact(path.relative_to(root).as_posix())

    lines = [f"schema = {shown(schema)}", *(f"overlay = {shown(path)}" for path in overlays), f"gold = {shown(gold)}"]
    if systems:
        lines += ["", "[systems]", *(f"{compact(name)} = {shown(path)}" for name, path in systems.items())]
    if options:
        lines += ["", "[options]", *(f"{name} = {compact(value)}" for name, value in options.items())]
    return "\n".join(lines) + "\n"
