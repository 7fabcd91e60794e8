"""Writes the queue of disagreements on which people decide."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from arbitre.agreement.consensus.decisions import cell_text, fingerprint
from arbitre.agreement.consensus.queue_view import queue_view
from arbitre.corpus.storage.output_folder import output_folder
from arbitre.errors import OptionError
from arbitre.parsing.fast_json import compact
from arbitre.report.html.language import Language
from arbitre.report.html.queue_page import render_queue
from arbitre.report.text_files import atomic_text_file, output_text_file
from arbitre.tables.csv_text import cell, csv_writer
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TextIO

    from arbitre.agreement.consensus.decisions import Decision
    from arbitre.agreement.consensus.disagreement import Disagreement

SUFFIXES: Final = (".jsonl", ".csv", ".html")


class Queue(NamedTuple):
    """The disagreements of annotators, and the decisions on them so far.

    Attributes:
        annotators: Names of the annotators.
        disagreements: The disagreements, in the order in which people should decide.
        decisions: Decisions by the id of their disagreement.
        version: Version of arbitre.
    """

    annotators: Sequence[str]
    disagreements: Sequence[Disagreement]
    decisions: Mapping[str, Decision]
    version: str

    def write(
        self,
        path: Path,
        language: Language = Language.EN,
        *,
        inputs: Iterable[str | Path] = (),
        force: bool = False,
    ) -> None:
        """Write the queue to a file in the format of its suffix, or to a folder in all formats.

        Raises DataError if a file cannot be written or is not one that arbitre wrote.
        """
        files = queue_files(path)
        if files == [path]:
            with output_text_file(path) as file:
                self._write(file, path.suffix, language)
            return
        with output_folder(path, [each.name for each in files], inputs=inputs, force=force) as staging:
            for each in files:
                with atomic_text_file(staging / each.name) as file:
                    self._write(file, each.suffix, language)

    def _write(self, file: TextIO, suffix: str, language: Language) -> None:
        if suffix == ".html":
            file.write(self._page(language))
        elif suffix == ".csv":
            self._table(file)
        else:
            file.writelines(f"{compact(record)}\n" for record in map(_record, self.disagreements))

    def _page(self, language: Language) -> str:
        view = queue_view(self.annotators, self.disagreements, self.decisions.values())
        return render_queue(view, self.version, language)

    def _table(self, file: TextIO) -> None:
        writer = csv_writer(file)
        readings = [f"{name}: {part}" for name in self.annotators for part in ("value", "pointer")]
        described = ("id", "document", "pointer", "path", "kind", "flag", "weight", "proposal")
        writer.writerow([*described, *map(cell, readings), "context", "value", "absent", "by", "note", "fingerprint"])
        for own in self.disagreements:
            by_name = {reading.annotator: reading for reading in own.readings}
            cells: list[str] = []
            for name in self.annotators:
                reading = by_name.get(name)
                cells += ["", ""] if reading is None else [cell_text(reading.value), reading.pointer or ""]
            decision = self.decisions.get(own.id)
            decided = ["", "", "", ""]
            if decision is not None:
                absent = "true" if decision.value is ABSENT else ""
                decided = [cell_text(decision.value), absent, cell(decision.by), cell(decision.note)]
            texts = map(cell, (own.id, own.document, own.pointer, own.path, own.kind, own.flag))
            context = cell_text(own.context)
            writer.writerow(
                [*texts, compact(own.weight), cell_text(own.proposal), *cells, context, *decided, fingerprint(own)]
            )


def queue_files(path: str | Path) -> list[Path]:
    """Return the files of a queue: the file itself, or all three formats in a folder.

    Raises:
        OptionError: The path is neither a folder nor a file with one of `SUFFIXES`.

    >>> [each.name for each in queue_files("queue")], [each.name for each in queue_files("decide.html")]
    (['queue.jsonl', 'queue.csv', 'queue.html'], ['decide.html'])
    """
    path = Path(path)
    if path.is_dir() or not path.suffix:
        return [path / f"queue{suffix}" for suffix in SUFFIXES]
    if path.suffix not in SUFFIXES:
        raise OptionError.of(
            f"Expected `queue` to be a folder or a file that ends in {', '.join(SUFFIXES)}, got {path.name!r}."
        )
    return [path]


def _record(disagreement: Disagreement) -> dict[str, object]:
    return disagreement.to_dict() | {"fingerprint": fingerprint(disagreement)}
