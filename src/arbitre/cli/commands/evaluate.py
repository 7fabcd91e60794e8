"""`arbitre evaluate`: compare a corpus of predictions with gold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from rich.text import Text

from arbitre.cli.option_values import BoundOptions, check_format_assertion, close
from arbitre.cli.output import result_tables
from arbitre.cli.output.console import OutputOptions
from arbitre.cli.output.progress import shown_progress
from arbitre.comparator import Comparator
from arbitre.comparator.comparator import ComparatorKeywords
from arbitre.corpus.archive import without_file_folders, without_folders
from arbitre.corpus.quality_bounds import check_bounds
from arbitre.inputs.corpus_sources import Sources
from arbitre.inputs.document_ids import MAX_NAMES
from arbitre.inputs.options import ReadOptions
from arbitre.inputs.records import key
from arbitre.jobs.evaluation_job import EvaluationJob
from arbitre.jobs.evaluation_options import EvaluationOptions
from arbitre.schema.describe import forces_pairs
from arbitre.tables.terminal import escape_hidden

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.inputs.records import RepairedPrediction


def evaluate(
    *,
    schema: str,
    options: ComparatorKeywords,
    sources: Sources,
    reading: ReadOptions,
    evaluation_options: EvaluationOptions,
    classified: list[str],
    bounds: BoundOptions,
    output: OutputOptions,
) -> None:
    """Evaluate a corpus: compare each prediction with the gold document of the same id."""
    out, validate = evaluation_options.out, evaluation_options.validate
    check_format_assertion(options, validate=validate)
    screen = output.terminal(evaluation_options.lang)
    plan = Comparator(schema, **options).plan
    with shown_progress(screen) as on_progress:
        job = EvaluationJob.of_sources(plan, sources, reading, evaluation_options, on_progress)
        for note in job.notes:
            screen.note(note)
        evaluation, files = job()
        for note in evaluation.notes:
            if note not in job.notes:  # known only after the comparison
                screen.note(note)
        classes = {path: evaluation.classification(path) for path in classified}
    missed, repaired = check_bounds(evaluation, fail_under=bounds.bounds), evaluation.repaired
    if screen.as_json:
        plain = without_folders(evaluation)
        plain |= {"repaired": without_file_folders(repaired)} if reading.lenient else {}
        plain |= (
            {"classification": {path: classification.to_dict() for path, classification in classes.items()}}
            if classes
            else {}
        )
        screen.json(plain)
    elif evaluation_options.flat and evaluation.flat_comparison is not None:
        flat_blocks = result_tables.flat(evaluation.flat_comparison, screen.width)
        gold = Text(escape_hidden(evaluation.provenance.headline()))
        screen.show((*flat_blocks, gold, result_tables.signature(evaluation.signature)))
    else:
        faults = result_tables.diagnosis(evaluation, screen.width)
        violations = job.violations if validate else None
        forced = forces_pairs(plan.sites, plan.entries)
        blocks = [*result_tables.evaluation(evaluation, screen.width, violations, faults, forced=forced)]
        for path, classification in classes.items():  # before the signature
            blocks[-1:-1] = result_tables.classification(path, classification, evaluation, screen.width)
        screen.show(blocks)
    if out is not None and not screen.as_json:
        screen.wrote(files, out)
    for how, repairs in (
        ("Invalid JSON, repaired", [repair for repair in repaired if not repair.in_text]),
        ("JSON in a text, read", [repair for repair in repaired if repair.in_text]),
    ):
        if repairs:
            screen.note(_repair_note(how, repairs))
    raise typer.Exit(close(screen, missed))


def _repair_note(how: str, repairs: Sequence[RepairedPrediction]) -> str:
    """Return the note on predictions that were read in this way, with the kinds of repair."""
    names = ((key(one.id, one.run), "" if one.in_text else f" ({one.how})") for one in repairs[:MAX_NAMES])
    shown = ", ".join(name + kind for name, kind in names)
    more = ", ..." * (len(repairs) > MAX_NAMES)
    return f"{how} ({len(repairs)}): {shown}{more}"
