"""`arbitre demo`: evaluate two systems on the bundled corpus."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.text import Text

import arbitre
from arbitre import bundled
from arbitre.cli.output import result_tables
from arbitre.cli.output.console import OutputOptions
from arbitre.cli.output.result_tables import number
from arbitre.comparison.tables import MEANING, MEANINGS
from arbitre.corpus.worker import compare_pairs
from arbitre.errors import shell_quoted
from arbitre.inputs.corpus_sources import Sources
from arbitre.jobs.evaluation_job import EvaluationJob, result_names
from arbitre.jobs.evaluation_options import EvaluationOptions
from arbitre.language import ENGLISH, Language, Translator
from arbitre.options import LanguageName
from arbitre.report.entry_rows import EntryLayout, EntryRow
from arbitre.report.report_files import write_ranking
from arbitre.report.worst_documents import REPORT
from arbitre.storage.files import atomic_text_file
from arbitre.storage.output_folder import output_folder
from arbitre.tables.table import PLACE, SCORE, Table, TableColumn, columns, count
from arbitre.tables.terminal import render

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import RenderableType

    from arbitre.corpus.evaluation import Evaluation
    from arbitre.systems.ranking import Ranking

SYSTEMS: Final = ("careful", "hasty")
GOLD: Final = "gold.jsonl"
SCHEMA: Final = "speakers.schema.json"
SCORES: Final = ("f1q", "imq", "irq", "amq", "omq", "quality")
HEADLINE: Final = "f1q"
DIGITS: Final = 2
WORST: Final = 3
WIDEST: Final = 22
"""Width of the longest field with its quality."""


def demo(
    *,
    out: Path,
    lang: LanguageName,
    no_diagnose: bool,
    no_report: bool,
    force: bool,
    output: OutputOptions,
) -> None:
    """Evaluate two systems on a small bundled corpus: the speakers on six pages of an index."""
    screen = output.terminal(lang)
    sources = [bundled.demo() / f"{name}.jsonl" for name in ("gold", *SYSTEMS)]
    sources.append(bundled.schemas() / "examples" / SCHEMA)
    options = EvaluationOptions(workers=1, lang=Language(lang), no_diagnose=no_diagnose, no_report=no_report)
    parts = dict.fromkeys(SYSTEMS, result_names(options))
    evaluations: dict[str, Evaluation] = {}
    found: dict[str, list[EntryRow]] = {}
    names = *(file.name for file in sources), REPORT
    with output_folder(out, names, "demo", parts=parts, force=force) as folder:
        for source in sources:
            with atomic_text_file(folder / source.name) as file:
                file.write(source.read_text(encoding="utf-8"))
        comparator = arbitre.Comparator(folder / SCHEMA)
        entries = EntryLayout.of(comparator.plan)
        for system in SYSTEMS:
            joined = Sources(gold=folder / GOLD, predicted=folder / f"{system}.jsonl").joined()
            job = EvaluationJob(comparator.plan, joined, replace(options, out=folder / system))
            evaluations[system], _ = job.run()
            compared_again = compare_pairs(comparator.plan, list(joined))
            found[system] = [one for pairs, levels, _ in compared_again for one in entries.rows(pairs, levels)]
        ranking = arbitre.rank(evaluations)
        if not no_report:
            write_ranking(folder, ranking, options.lang)
    screen.show(_leaderboard_and_entries(evaluations, ranking, found, screen.width))
    screen.verbatim(f"\nWrote {out.as_posix()}. To run it yourself:", *_commands(out))
    if not no_report:
        screen.verbatim(f"\nOpen the report in a browser: {(out / REPORT).as_posix()}")


def _leaderboard_and_entries(
    evaluations: Mapping[str, Evaluation], ranking: Ranking, found: Mapping[str, Sequence[EntryRow]], width: int
) -> Iterator[RenderableType]:
    first = next(iter(evaluations.values()))
    yield Text.assemble(
        ("Two systems on the same pages", "bold"),
        f"\n{len(first.documents)} pages, {result_tables.count(first.micro.gold)} speakers in gold",
        "\nScores: per-document mean (macro)",
    )
    yield render(_side_by_side(evaluations), width, ways="Use a wider terminal.")
    yield Text(_difference(ranking))
    for system, entries in found.items():
        yield render(_worst(entries, f"{system}: worst pairs"), width)
    if ranking.causes is not None:
        yield render(ranking.causes.table(), width)
    yield result_tables.signature(first.signature)


def _side_by_side(evaluations: Mapping[str, Evaluation]) -> Table:
    found = evaluations.values()
    rows: list[tuple[str | float | None, ...]] = []
    for name in SCORES:
        rows.append((name, *(getattr(one.macro, name) for one in found), MEANINGS[name]))
        if name == HEADLINE:
            intervals = [one.interval(name) for one in found]
            ends = (f"{number(one.low, DIGITS)} to {number(one.high, DIGITS)}" for one in intervals)
            rows.append((f"  {ENGLISH.level(intervals[0].level)} interval", *ends, ""))
    rows.append(("document quality", *(one.document_quality.mean for one in found), "mean quality of whole pages"))
    weak = range(len(rows), len(rows) + 4)
    masses = ("gold", "predicted", "matched")
    rows += [(f"{name} entries", *(count(getattr(one.micro, name)) for one in found), "") for name in masses]
    rows.append(("failed pages", *(str(one.macro.failed) for one in found), "no usable prediction; scores are 0"))
    # No label is broken at 80 columns.
    labels, meaning = TableColumn("score", least=20, said=Translator.score), replace(MEANING, least=30)
    heads = (labels, *columns(*evaluations, written=PLACE, named=True, said=Translator.text), meaning)
    return Table.of("", heads, rows, emphasis={0: "strong"} | dict.fromkeys(weak, "weak"))


def _difference(ranking: Ranking) -> str:
    """State the difference of the two systems, with its interval and p."""
    (test,) = ranking.pairs
    difference, low, high = (number(value, DIGITS) for value in (test.difference, test.low, test.high))
    return (
        f"{test.a} - {test.b}: {difference}, {ENGLISH.level(ranking.level)} interval {low} to {high} "
        f"(paired, on the same pages; p = {test.p:.2g})"
    )


def _worst(entries: Sequence[EntryRow], title: str) -> Table:
    """Return the pairs with the lowest quality and their incorrect fields, worst first."""
    pairs = sorted((entry for entry in entries if entry.status == "matched"), key=lambda entry: entry.whole.quality)
    rows = []
    for entry in pairs[:WORST]:
        wrong = sorted((cell.quality, name) for name, cell in entry.fields.items() if cell.quality < 1.0)
        fields = "\n".join(f"{name} {SCORE(quality)}" for quality, name in wrong)
        names = dict.fromkeys(str(side["name"]) for side in (entry.whole.gold, entry.whole.predicted))
        rows.append((entry.pair.key, "\n-> ".join(names), fields, entry.whole.quality))
    heads = (
        *(TableColumn("page", least=7), TableColumn("speaker", kind="lines")),
        TableColumn("incorrect fields", kind="lines", least=WIDEST, said=Translator.figures),
        TableColumn("quality", SCORE, emphasis="strong"),
    )
    return Table.of(title, heads, rows)


def _commands(out: Path) -> Iterator[str]:
    for system in SYSTEMS:
        names = SCHEMA, GOLD, f"{system}.jsonl", system
        schema, gold, predicted, folder = (shell_quoted((out / name).as_posix()) for name in names)
        yield f"  arbitre evaluate --schema {schema} --gold {gold} --predicted {predicted} --out {folder}"
