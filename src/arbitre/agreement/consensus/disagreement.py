"""The result of building a consensus: the documents, and every place where the annotators disagree."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from arbitre.errors import DataError
from arbitre.inputs.document_ids import RUN
from arbitre.inputs.provenance import sidecar
from arbitre.inputs.reader import LINES
from arbitre.parsing.fast_json import json_text
from arbitre.storage.files import atomic_text_file, is_file_name
from arbitre.storage.output_folder import check_output_folder, output_folder, output_path, output_text_file
from arbitre.values import ABSENT, Json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from arbitre.errors import Problem
    from arbitre.inputs.provenance import Provenance

Flag: TypeAlias = Literal["tie", "weak majority", "not unanimous"]
"""How far the annotators are from agreeing on a proposal; the first two need a decision by a person."""

FLAGGED: Final[tuple[Flag, ...]] = ("tie", "weak majority")


@dataclass(frozen=True, slots=True)
class Reading:
    """The value that an annotator has at a place, if any.

    Attributes:
        annotator: Name of the annotator.
        value: The value; ABSENT if the annotator has none there.
        pointer: JSON Pointer of the value in the document of the annotator; None if it is absent.
        votes: Whether the annotator has a vote, which requires the enclosing object or list.
    """

    annotator: str
    value: Json
    pointer: str | None
    votes: bool = True

    def to_dict(self) -> dict[str, Json]:
        """Return a JSON-serialisable dictionary; `absent` takes the place of `value` if there is none."""
        plain = {"annotator": self.annotator, "pointer": self.pointer} | _value_or_absent("value", self.value)
        return plain if self.votes else plain | {"votes": False}


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A place where the annotators do not all have the same value.

    Attributes:
        id: The id of the document and the pointer, joined by `#`.
        document: Id of the document.
        pointer: JSON Pointer of the value in the consensus document. List items that are left out have the positions
            after the last item; fields that are left out have the pointer where they would stand.
        path: Wildcard path.
        kind: `value` if the annotators have different values, `presence` if an annotator has none.
        readings: What each annotator of the document has, by name.
        proposal: The value that the strategy put into the consensus; ABSENT if it was left out.
        support: Share of the votes for the proposal, in [0, 1]. Annotators who do not have the enclosing object or
            list have no vote.
        margin: `support` minus the share of the most frequent other reading.
        flag: `tie` and `weak majority` need a decision by a person.
        weight: Share of the document's quality at stake, times the mean distance between the readings.
        context: The nearest list item, or else the document, that contains the place, as in the consensus. Long
            lists are shortened to the items near the place or, if they do not contain it, to their first items; "…"
            replaces the others.
        entry: JSON Pointer of the place if it is an object in a list, or else of `context`.
        versions: What each annotator has at `entry`.
        within: The first text of each list item that contains the place, the outermost first.
        items: What each annotator has at each list item that contains the place, and at the place if it is an object
            in a list, the outermost first.
    """

    id: str
    document: str
    pointer: str
    path: str
    kind: Literal["value", "presence"]
    readings: tuple[Reading, ...]
    proposal: Json
    support: float
    margin: float
    flag: Flag
    weight: float
    context: Json
    entry: str = ""
    versions: tuple[Reading, ...] = ()
    within: tuple[str, ...] = ()
    items: tuple[tuple[Reading, ...], ...] = ()

    @property
    def flagged(self) -> bool:
        """Whether the proposal needs a decision by a person."""
        return self.flag in FLAGGED

    def to_dict(self) -> dict[str, Json]:
        """Return a JSON-serialisable dictionary; `absent` takes the place of `proposal` if there is none."""
        return {
            "id": self.id,
            "document": self.document,
            "pointer": self.pointer,
            "path": self.path,
            "kind": self.kind,
            "flag": self.flag,
            **_value_or_absent("proposal", self.proposal),
            "support": self.support,
            "margin": self.margin,
            "weight": self.weight,
            "readings": [reading.to_dict() for reading in self.readings],
            "within": list(self.within),
            "entry": self.entry,
            "context": None if self.context is ABSENT else self.context,
        }


@dataclass(frozen=True, slots=True)
class PathCounts:
    """Counts of the values or list items at a wildcard path, by how the consensus was reached.

    A value counts as no safer than the entry that contains it: in a flagged entry, unanimous values count as flagged.

    Attributes:
        unanimous: Kept; all annotators have it.
        majority: Kept, with a clear majority.
        flagged: Kept, but tied, with a weak majority, or in a document of a single annotator.
        left_out: Not in the consensus.
    """

    unanimous: int = 0
    majority: int = 0
    flagged: int = 0
    left_out: int = 0

    @property
    def total(self) -> int:
        """Number of values or list items that at least one annotator has."""
        return self.unanimous + self.majority + self.flagged + self.left_out


@dataclass(frozen=True, slots=True)
class PartScores:
    """Scores of a system on a subset of the gold values.

    Attributes:
        values: Number of gold values.
        exact: Share of them that are predicted with quality 1; None if there are none.
        quality: Mean quality of the predictions of these values, where missing values have quality 0 (`irq`); None if
            there are none.
    """

    values: int
    exact: float | None
    quality: float | None

    @classmethod
    def of(cls, qualities: Iterable[float]) -> PartScores:
        """Create the scores from the quality of each gold value."""
        each = list(qualities)
        if not each:
            return cls(0, None, None)
        return cls(len(each), sum(quality == 1.0 for quality in each) / len(each), fsum(each) / len(each))


@dataclass(frozen=True, slots=True)
class SystemScores:
    """Separate scores of a system on the unanimous and the contested values of the consensus.

    Spurious values count in neither part. Values that are left out of the consensus are not scored.

    Attributes:
        unanimous: Values that all annotators have.
        contested: Values that some annotator does not have.
    """

    unanimous: PartScores
    contested: PartScores

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serialisable dictionary."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Standing:
    """How well a consensus, a medoid and single annotators agree with an annotator who was left out.

    Each annotator is left out in turn. The consensus of the others is compared with the documents of that annotator,
    and so are the documents of each other annotator and the medoid: for each document, that of the other annotator who
    agrees best with the rest. The scores are means of the pooled f1q. They are agreement, not performance.

    Attributes:
        consensus: Mean f1q of the consensus of the others.
        medoid: Mean f1q of the medoid of the others.
        annotators: Mean f1q of each annotator against the others.
        documents: Number of documents that were compared.
    """

    consensus: float
    medoid: float
    annotators: Mapping[str, float]
    documents: int

    @property
    def best(self) -> str:
        """Name of the annotator with the greatest mean f1q."""
        return max(sorted(self.annotators), key=lambda name: self.annotators[name])


@dataclass(frozen=True, slots=True)
class RefusedDecision:
    """A line of a decisions file that was not applied.

    Attributes:
        problem: What is wrong, with the file and the line.
        id: Id of the disagreement; None if the line has none.
        text: The line, or the row of a table, as it is in the file.
    """

    problem: Problem
    id: str | None
    text: str

    def to_dict(self) -> dict[str, Json]:
        """Return a JSON-serialisable dictionary."""
        return {
            "file": self.problem.file,
            "line": self.problem.line,
            "id": self.id,
            "reason": self.problem.message,
            "hint": self.problem.hint,
            "text": self.text,
        }


@dataclass(frozen=True, slots=True)
class Consensus:
    """Gold documents built from the documents of several annotators.

    Attributes:
        documents: The consensus documents by id, sorted.
        disagreements: The places where the annotators differ, those with the greatest weight first.
        provenance: What `save` stores in the sidecar.
        notes: Assumptions of the strategy, and what it left out.
        by_path: Number of single values and list items at each wildcard path.
        values: Number of single values at all paths.
        systems: Scores of systems on unanimous and on contested values. Their gold is the consensus; for `unanimity`,
            it is the majority.
        undecided: For `collegial`, the ids of the disagreements that nobody has decided on. `by_path` and `values` are
            those of the proposal.
        standing: Comparison with single annotators and the medoid; None for fewer than three annotators.
        refused: Lines of the decisions file that were not applied.
        refused_file: File to which `consensus` wrote them, beside the documents or else the queue.
    """

    documents: Mapping[str, Json]
    disagreements: tuple[Disagreement, ...]
    provenance: Provenance
    notes: tuple[str, ...] = ()
    by_path: Mapping[str, PathCounts] = field(default_factory=dict)
    values: PathCounts = PathCounts()
    systems: Mapping[str, SystemScores] = field(default_factory=dict)
    undecided: tuple[str, ...] = ()
    standing: Standing | None = None
    refused: tuple[RefusedDecision, ...] = ()
    refused_file: Path | None = None

    def save(
        self,
        path: str | Path,
        *,
        id_key: str = "id",
        inputs: Iterable[str | Path] = (),
        force: bool = False,
    ) -> tuple[Path, Path]:
        """Write the documents and their sidecar, as `arbitre evaluate --gold` reads them.

        Args:
            path: A file (.jsonl or .ndjson) for objects, one per line; or a folder for documents of any kind, one
                `<id>.json` each. Only files that arbitre wrote are replaced.
            id_key: Key of the id in a file.
            inputs: Files and folders that were read, which the folder must not contain.
            force: Whether to write to a folder that already contains other files, which are kept.

        Returns:
            The path of the documents, and that of the sidecar.

        Raises:
            DataError: A document cannot be a record, an id cannot be used as a file name, the folder contains files
                that arbitre did not write, or a file cannot be written.
        """
        path, inputs = Path(path), [*inputs]
        check_consensus_path(path, inputs=inputs, force=force)
        if path.suffix.lower() in LINES:
            texts = [_line(name, document, id_key) for name, document in self.documents.items()]
            with output_text_file(path) as file:
                file.writelines(texts)
        else:
            names = _file_names(self.documents)
            with output_folder(path, names.values(), "consensus", inputs=inputs, force=force) as staging:
                for name, document in self.documents.items():
                    with atomic_text_file(staging / names[name]) as file:
                        file.write(json_text(document))
        return path, self.provenance.write(path)

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serialisable dictionary."""
        return {
            "provenance": self.provenance.to_dict(),
            "notes": list(self.notes),
            "values": asdict(self.values),
            "by_path": {path: asdict(counts) for path, counts in self.by_path.items()},
            "undecided": list(self.undecided),
            "refused": [line.to_dict() for line in self.refused],
            "standing": None if self.standing is None else asdict(self.standing) | {"best": self.standing.best},
            "systems": {name: scores.to_dict() for name, scores in self.systems.items()},
            "documents": dict(self.documents),
            "disagreements": [disagreement.to_dict() for disagreement in self.disagreements],
        }


def check_consensus_path(path: Path, *, inputs: Iterable[str | Path] = (), force: bool = False) -> None:
    """Raise DataError if a consensus must not be written to a path; arguments as for `Consensus.save`."""
    if path.suffix.lower() in LINES:
        output_path(path, inputs=inputs)
    elif path.suffix and not path.is_dir():
        raise DataError.of(
            "Expected a .jsonl file or a folder for the consensus", file=str(path), hint="Choose another name."
        )
    else:
        check_output_folder(path, "consensus", inputs=inputs, force=force)
    output_path(sidecar(path))


def _value_or_absent(key: str, value: Json) -> dict[str, Json]:
    return {"absent": True} if value is ABSENT else {key: value}


def _line(name: str, document: Json, id_key: str) -> str:
    """Return a document as a record with its id."""
    if not isinstance(document, dict):
        reason = "is not an object"
    elif taken := [key for key in (id_key, RUN) if key in document]:
        reason = f"has a field {taken[0]!r}, which is reserved in a record"
    else:
        return json.dumps({id_key: name, **document}, ensure_ascii=False) + "\n"
    raise DataError.of(
        f"The consensus of {name!r} cannot be written to a .jsonl file: it {reason}",
        hint="Write the documents to a folder: give a name without a suffix.",
    )


def _file_names(documents: Iterable[str]) -> dict[str, str]:
    """Return the file name of each document. Raises DataError if there is none."""
    names = {name: f"{name}.json" for name in documents}
    if wrong := [name for name, file in names.items() if not is_file_name(file)]:
        raise DataError.of(
            f"The id {wrong[0]!r} cannot be used as a file name", hint="Write the documents to a .jsonl file instead."
        )
    return names
