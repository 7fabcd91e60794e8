"""The file `results.npz`: an evaluation in full precision, which can be loaded again."""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from dataclasses import asdict, astuple
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zipfile import BadZipFile, ZipFile, ZipInfo

import numpy as np

from arbitre.comparison.cause import CauseAnalysis
from arbitre.comparison.flat import FlatComparison
from arbitre.comparison.levels import FIELD_WIDTH
from arbitre.corpus.chance import Chance
from arbitre.corpus.documents import DocumentTable
from arbitre.corpus.evaluation import Evaluation
from arbitre.corpus.worker import PATH_WIDTH, TALLY_WIDTH
from arbitre.curve import Curve
from arbitre.diagnosis.corpus_diagnosis import CorpusDiagnosis
from arbitre.errors import DataError, clipped, unreadable
from arbitre.inputs.provenance import GoldProvenance
from arbitre.inputs.records import Failure, RepairedPrediction
from arbitre.parsing import strict_json
from arbitre.signature import Signature
from arbitre.storage.columns import TYPES, CompactTable, LazySequence, RepeatedTexts, StringArray
from arbitre.tally import MacroScores, Scores, Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy.typing as npt

    from arbitre.values import Json

RESULTS: Final = "results.npz"
FORMAT: Final = "arbitre-results/2"


IDS_AT_ONCE: Final = 4096
"""Number of ids encoded at once."""

DIGEST: Final = "digest"
"""Name of the last member: a digest of the checksums of the others, which reveals an edited array."""

_DAMAGE: Final = (
    *(
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        IndexError,
        EOFError,
        OverflowError,
        MemoryError,
        RecursionError,
    ),
    *(BadZipFile, NotImplementedError, zlib.error, struct.error),
)
"""Exceptions of NumPy, `zipfile` and `json` for files that they cannot read."""


def write_archive(path: Path, evaluation: Evaluation, evaluation_json: Json = None) -> None:
    """Write an evaluation. The same corpus always gives the same bytes.

    Numbers of documents are arrays; everything else is one JSON text. The last member is a digest of the others.

    Args:
        path: File to write.
        evaluation: The evaluation.
        evaluation_json: Contents of the `evaluation.json` that is written along with it; None if there is none.
    """
    columns, curve, chance = evaluation.document_table, evaluation.curve, evaluation.chance
    runs = sorted(run for run in columns.runs.names if run is not None)
    codes = {run: code for code, run in enumerate(runs)} | {None: -1}
    text = {
        "format": FORMAT,
        "evaluation": None if evaluation_json is None else _identity(evaluation_json),
        "signature": evaluation.signature.to_dict(),
        "entries": evaluation.entries,
        "runs": runs,
        "paths": list(columns.paths),
        "fields": list(columns.fields),
        "leaves": astuple(evaluation.leaves.tally),
        "curve": [curve.gold, curve.predicted],
        "failures": [asdict(failure) for failure in evaluation.failures],
        "without_gold": evaluation.without_gold,
        "clusters": evaluation.clusters,
        "intervals": evaluation.intervals,
        "macro": asdict(evaluation.macro),
        "declared": evaluation.declared,
        "repaired": [asdict(repair) for repair in evaluation.repaired],
        "violations": evaluation.violations,
        "flat": None if evaluation.flat_comparison is None else evaluation.flat_comparison.to_dict(),
        "diagnosis": None if evaluation.diagnosis is None else evaluation.diagnosis.to_dict(),
        "notes": evaluation.notes,
        "provenance": evaluation.provenance.to_dict(),
        "chance": None if chance is None else asdict(chance),
        "causes": None if evaluation.cause_factory is None else evaluation.cause_analysis.to_dict(faults=True),
    }
    arrays: dict[str, Any] = {
        "text": np.frombuffer(json.dumps(text).encode(), dtype=np.uint8),
        "ids": np.frombuffer(_ids_text(columns.ids), dtype=np.uint8),
        "runs": np.take(np.array([codes[run] for run in columns.runs.names], dtype=np.int32), columns.runs.codes),
        "qualities": columns.qualities,
        "failed": columns.failed,
        "curve": np.stack([curve.qualities, curve.counts]),
        **_columns("tally", [columns.entries]),
        **_columns("path", columns.paths.values()),
        **_columns("field", columns.fields.values()),
    }
    with path.open("wb") as file:
        np.savez(file, **arrays)
    with ZipFile(path, "a") as archive:
        archive.writestr(ZipInfo(DIGEST), _digest(archive))  # with the date of the other members, which is constant


def _ids_text(ids: LazySequence[str]) -> bytearray:
    """Return the JSON text of ids. They are encoded in parts, which saves 60 bytes of memory per document."""
    text = bytearray(b"[")
    for begin in range(0, len(ids), IDS_AT_ONCE):
        part = json.dumps(ids[begin : begin + IDS_AT_ONCE])[1:-1]
        text += (b", " if begin else b"") + part.encode()
    return text + b"]"


def _columns(name: str, tables: Iterable[CompactTable]) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of tables by path, in their stored types, which need a third of the space of floats."""
    return {
        f"{name}_{number}_{at}": column
        for number, table in enumerate(tables)
        for at, column in enumerate(table.columns())
    }


def _digest(archive: ZipFile) -> bytes:
    """Return the digest of the names, sizes and checksums of all other members."""
    members = sorted((one.filename, one.file_size, one.CRC) for one in archive.infolist() if one.filename != DIGEST)
    return hashlib.sha256(repr(members).encode()).hexdigest().encode()


def _identity(evaluation_json: Json) -> str:
    """Return a digest of the contents of an `evaluation.json`, regardless of how the file is formatted."""
    return hashlib.sha256(json.dumps(evaluation_json, sort_keys=True).encode()).hexdigest()


def read_archive(path: Path, evaluation_file: Path | None = None) -> Evaluation:
    """Read an evaluation that `write_archive` wrote.

    Args:
        path: File to read.
        evaluation_file: The `evaluation.json` that it must belong to. If None, or if it does not exist, any archive
            is accepted.

    Raises:
        DataError: The file cannot be read, is truncated, was edited, or does not contain an evaluation; or
            `evaluation_file` was edited or belongs to another evaluation. This is not checked for archives of earlier
            versions, which do not record it.
    """
    evaluation, expected_digest = _read(path)
    if expected_digest is None or evaluation_file is None or not evaluation_file.exists():
        return evaluation
    if expected_digest != _identity(strict_json.load(evaluation_file)):
        raise DataError.of(
            f"{path.name} does not belong to {evaluation_file.name}, which was edited or comes from another evaluation",
            file=str(path),
            hint=f"Keep each evaluation in its own folder. Undo changes to {evaluation_file.name}, or evaluate again.",
        )
    return evaluation


def _read(path: Path) -> tuple[Evaluation, str | None]:
    """Read an archive, and the digest of the `evaluation.json` that was written along with it."""
    try:
        with ZipFile(path) as archive:
            edited = DIGEST not in archive.namelist() or archive.read(DIGEST) != _digest(archive)
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            text = json.loads(arrays["text"].tobytes())
            if text["format"] == FORMAT and not edited:
                found = _evaluation(text, {name: arrays[name] for name in arrays if name != DIGEST})
                return found, text.get("evaluation")
            reason = "a file that was edited" if edited else f"the format {text['format']!r}"
    except OSError as error:
        raise unreadable(path, error) from error
    except _DAMAGE as error:
        reason = clipped(f"a damaged file: {error}" if str(error) else f"a damaged file: {type(error).__name__}")
    raise DataError.of(
        f"Expected results in the format {FORMAT!r}, got {reason}",
        file=str(path),
        hint="Evaluate again with this version of arbitre.",
    )


def _evaluation(text: dict[str, Any], arrays: dict[str, Any]) -> Evaluation:
    ids = _ids(arrays)
    _check_arrays(text, arrays, len(ids))
    names = [*text["runs"], None]  # the code of no run is -1
    columns = DocumentTable(
        ids,
        RepeatedTexts.of(names[code] for code in arrays["runs"].tolist()),
        _tables("tally", ("",), TALLY_WIDTH, arrays)[""],
        arrays["qualities"],
        arrays["failed"],
        _tables("path", text["paths"], PATH_WIDTH, arrays),
        _tables("field", text["fields"], FIELD_WIDTH, arrays),
    )
    chance = text["chance"] and _chance(text["chance"])
    causes = None if text.get("causes") is None else CauseAnalysis.from_dict(text["causes"])
    found = Evaluation(
        signature=Signature.from_dict(text["signature"]),
        entries=text["entries"],
        document_table=columns,
        leaves=Scores(Tally(*text["leaves"])),
        curve=Curve(*arrays["curve"], *text["curve"]),
        failures=tuple(Failure(**failure) for failure in text["failures"]),
        without_gold=tuple(text["without_gold"]),
        clusters=None if text["clusters"] is None else tuple(text["clusters"]),
        declared=tuple(text["declared"]),
        repaired=tuple(RepairedPrediction(**repair) for repair in text["repaired"]),
        violations=None if text["violations"] is None else tuple(text["violations"]),
        flat_comparison=None if text.get("flat") is None else FlatComparison.from_dict(text["flat"]),
        diagnosis=None if text.get("diagnosis") is None else CorpusDiagnosis.from_dict(text["diagnosis"]),
        notes=tuple(text.get("notes", ())),
        provenance=GoldProvenance.from_dict(text.get("provenance")),
        chance_factory=None if chance is None else lambda: chance,
        cause_factory=None if causes is None else lambda: causes,
    )
    known = {"intervals": text["intervals"], "macro": MacroScores(**text["macro"])}
    vars(found).update(known)  # computing them takes seconds for a million documents
    return found


def _tables(
    name: str, paths: Iterable[str], width: int, arrays: Mapping[str, npt.NDArray[Any]]
) -> dict[str, CompactTable]:
    """Return the tables by path whose columns are in an archive."""
    return {
        path: CompactTable.of_columns([arrays[f"{name}_{number}_{at}"] for at in range(width)])
        for number, path in enumerate(paths)
    }


def _ids(arrays: Mapping[str, npt.NDArray[Any]]) -> StringArray:
    """Return the ids in an archive. Raises ValueError if they are not a list of strings."""
    ids = json.loads(arrays["ids"].tobytes())
    if not (isinstance(ids, list) and all(isinstance(name, str) for name in ids)):
        raise ValueError("expected a list of ids")
    return StringArray.of(ids)


def _check_arrays(text: dict[str, Any], arrays: Mapping[str, npt.NDArray[Any]], size: int) -> None:
    """Raise ValueError if an array is missing, or has another type or shape than `write_archive` gives it."""
    runs = len(text["runs"])
    columns = [f"tally_0_{at}" for at in range(TALLY_WIDTH)]
    columns += [f"path_{number}_{at}" for number in range(len(text["paths"])) for at in range(PATH_WIDTH)]
    columns += [f"field_{number}_{at}" for number in range(len(text["fields"])) for at in range(FIELD_WIDTH)]
    expected: dict[str, tuple[str, tuple[int, ...]]] = {
        "runs": ("i", (size,)),
        "qualities": ("f", (size,)),
        "failed": ("b", (size,)),
        "curve": ("f", (2, arrays["curve"].shape[-1])),
        **dict.fromkeys(columns, ("uf", (size,))),
    }
    for name, (kind, shape) in expected.items():
        array = arrays[name]
        if array.dtype.kind not in kind or array.shape != shape or (kind == "uf" and array.dtype not in TYPES):
            raise ValueError(f"expected `{name}` of shape {shape}, got {array.dtype} of shape {array.shape}")
    if unknown := arrays.keys() - expected.keys() - {"text", "ids"}:
        raise ValueError(f"unknown array {min(unknown)!r}")
    if not all(-1 <= code < runs for code in np.unique(arrays["runs"]).tolist()):
        raise ValueError("expected positions of runs in `runs`")
    if text["clusters"] is not None and len(text["clusters"]) != size:
        raise ValueError(f"expected {size} clusters, got {len(text['clusters'])}")


def _chance(plain: dict[str, Any]) -> Chance:
    floor = plain["chance_score"]
    return Chance(**plain | {"chance_score": None if floor is None else Scores(Tally(**floor["tally"]))})


def without_folders(evaluation: Evaluation) -> dict[str, Any]:
    """Convert an evaluation to JSON, with the folders of failed files removed."""
    return evaluation.to_dict() | {"failures": without_file_folders(evaluation.failures)}


def without_file_folders(items: Iterable[Failure | RepairedPrediction]) -> list[dict[str, Any]]:
    """Convert failures or repairs to JSON without the folders of their files: results name no local folders."""
    return [asdict(item) | {"file": item.file and Path(item.file).name} for item in items]
