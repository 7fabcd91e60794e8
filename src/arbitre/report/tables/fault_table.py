"""The table of faults, `faults.csv`, written from columns."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from arbitre.corpus.results.diagnosis import notes_of
from arbitre.corpus.results.fault_evidence import evidence_of, shares_in_source
from arbitre.tables.csv_text import STANDARD, CsvDialect, cell, csv_writer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.comparison.levels import Level
    from arbitre.corpus.joining.join import Pair
    from arbitre.corpus.reading.source_texts import SourceTexts
    from arbitre.diagnosis.moves.chance import ValueFrequencies
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

COLUMNS: Final = (
    *("id", "run", "entry", "gold_pointer", "predicted_pointer"),
    *("path", "fault", "gold", "predicted", "cost", "in_source", "signature"),
)


@dataclass(frozen=True, slots=True)
class FaultTableObserver:
    """Corpus observer that records the faults: their rows as CSV, and sums for the diagnosis of the corpus.

    Attributes:
        plan: The compiled schema.
        dialect: Notation of the table.
        table: Whether to record the rows.
        texts: The texts that were given to the model, if they are to be searched.
        usual: How often the gold of the corpus has each value.
    """

    plan: Plan
    dialect: CsvDialect = STANDARD
    table: bool = True
    texts: SourceTexts | None = None
    usual: ValueFrequencies | None = None

    def __call__(self, pairs: Sequence[Pair], levels: Sequence[Level]) -> list[Json]:
        """Return one note for all documents: the rows as one text, and the sums of each document."""
        from arbitre.diagnosis.causes.diagnose import find_faults  # noqa: PLC0415  (only `--diagnose` needs it)

        gold, predicted = [pair.gold for pair in pairs], [pair.predicted for pair in pairs]
        usual = None if self.usual is None else self.usual.for_documents([pair.id for pair in pairs])
        results = find_faults(self.plan, gold, predicted, levels, usual)
        shares, sources = shares_in_source(pairs, results.rows, self.texts)
        evidence = evidence_of(pairs, results, sources)
        note: Json = {"documents": [sums | more for sums, more in zip(notes_of(results), evidence, strict=True)]}
        if self.table:
            rows, dialect = results.rows, self.dialect
            ids, runs = [cell(pair.id) for pair in pairs], [cell(pair.run) for pair in pairs]
            columns = (
                [ids[document] for document in rows.documents],
                [runs[document] for document in rows.documents],
                *(map(cell, texts) for texts in (rows.entries, rows.gold_pointers, rows.predicted_pointers)),
                map(cell, rows.paths),
                rows.faults,
                *([cell(value, dialect) for value in values] for values in (rows.gold, rows.predicted, rows.costs)),
                [cell(share, dialect) for share in shares],
                [self.plan.signature.short] * len(rows),
            )
            file = io.StringIO()
            csv_writer(file, dialect._replace(mark=False)).writerows(zip(*columns, strict=True))
            note["rows"] = file.getvalue()
        return [note]
