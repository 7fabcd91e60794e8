"""Progress of an evaluation: a bar for its current phase on terminals, and a line every few seconds elsewhere."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arbitre.cli.output.console import Terminal
    from arbitre.corpus.evaluate import OnProgress, Phase
    from arbitre.corpus.evaluation import Evaluation
    from arbitre.report.evaluation_job import EvaluationJob

SECONDS: Final = 5.0
"""Time between two lines if standard error is not a terminal."""


class RateColumn(ProgressColumn):
    """Progress column with the number of documents per second."""

    def render(self, task: Task) -> Text:
        """Return the rate, or an empty text before it is known."""
        return Text("" if task.speed is None else f"{task.speed:,.0f}/s")


@contextmanager
def shown_progress(screen: Terminal) -> Iterator[OnProgress]:
    """Show the progress that is reported to the function of this context; nothing if `quiet`."""
    if screen.quiet:
        yield lambda _phase, _done, _total: None
    elif screen.err.is_terminal:
        yield from _bar(screen)
    else:
        yield from _lines(screen)


def compare_with_progress(job: EvaluationJob, screen: Terminal) -> tuple[Evaluation, tuple[str, ...]]:
    """Evaluate a corpus without its report, and show the progress; return the evaluation and the names of the files."""
    for note in job.notes:
        screen.note(note)
    with shown_progress(screen) as job.on_progress:
        return job.compare()


def _bar(screen: Terminal) -> Iterator[OnProgress]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), RateColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen.err, transient=True) as progress:
        tasks: dict[Phase, TaskID] = {}

        def show(phase: Phase, done: int, total: int | None) -> None:
            if phase not in tasks:
                for task in tasks.values():
                    progress.update(task, visible=False)
                tasks[phase] = progress.add_task(phase)
            progress.update(tasks[phase], completed=done, total=total)

        yield show


def _lines(screen: Terminal) -> Iterator[OnProgress]:
    current, finished = [""], threading.Event()

    def show(phase: Phase, done: int, total: int | None) -> None:
        count = f": {done:,} of {total:,} documents" if total is not None else f": {done:,} documents" if done else ""
        current[0] = phase + count

    def print_lines() -> None:
        while not finished.wait(SECONDS):
            screen.note(current[0])

    printer = threading.Thread(target=print_lines, daemon=True)
    printer.start()
    try:
        yield show
    finally:
        finished.set()
        printer.join()
