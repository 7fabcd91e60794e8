"""The progress bar of an evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

if TYPE_CHECKING:
    from arbitre.cli.output.console import Terminal
    from arbitre.report.evaluation import Evaluation
    from arbitre.report.evaluation_job import EvaluationJob


class RateColumn(ProgressColumn):
    """Progress column with the number of documents compared per second."""

    def render(self, task: Task) -> Text:
        """Return the rate, or an empty text before it is known."""
        return Text("" if task.speed is None else f"{task.speed:,.0f}/s")


def evaluate_with_progress(job: EvaluationJob, screen: Terminal) -> tuple[Evaluation, tuple[str, ...]]:
    """Evaluate a corpus and write all files; return the evaluation and the names of the files."""
    evaluation, files = compare_with_progress(job, screen)
    return evaluation, (*files, *job.write_report(evaluation))


def compare_with_progress(job: EvaluationJob, screen: Terminal) -> tuple[Evaluation, tuple[str, ...]]:
    """Evaluate a corpus without its report, with a progress bar on terminals; return as `evaluate_with_progress`."""
    for note in job.notes:
        screen.note(note)
    columns = (TextColumn("comparing"), BarColumn(), MofNCompleteColumn(), RateColumn(), TimeRemainingColumn())
    hidden = screen.quiet or not screen.err.is_terminal
    with Progress(*columns, console=screen.err, transient=True, disable=hidden) as progress:
        task = progress.add_task("", total=job.size)
        return job.compare(lambda results: progress.advance(task, len(results)))
