"""Progress of an evaluation: a bar for its current phase on terminals, and a line every few seconds elsewhere."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from arbitre.cli.output.console import Terminal
    from arbitre.corpus.evaluate import OnProgress, Phase
    from arbitre.corpus.evaluation import Evaluation
    from arbitre.jobs.evaluation_job import EvaluationJob
    from arbitre.language import Translator

SECONDS: Final = 5.0
"""Time between two lines if standard error is not a terminal."""


class TaskColumn(ProgressColumn):
    """Progress column with a text about the task."""

    def __init__(self, text: Callable[[Task], str]) -> None:
        """Set the function that returns the text."""
        super().__init__()
        self.text = text

    def render(self, task: Task) -> Text:
        """Return the text."""
        return Text(self.text(task))


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
    say = screen.say
    counts = TaskColumn(
        lambda task: _counted(int(task.completed), None if task.total is None else int(task.total), say)
    )
    rates = TaskColumn(lambda task: "" if task.speed is None else _rate(task.speed, say))
    columns = (TextColumn("{task.description}"), BarColumn(), counts, rates, TimeRemainingColumn())
    with Progress(*columns, console=screen.err, transient=True) as progress:
        tasks: dict[Phase, TaskID] = {}

        def show(phase: Phase, done: int, total: int | None) -> None:
            if phase not in tasks:
                for task in tasks.values():
                    progress.update(task, visible=False)
                tasks[phase] = progress.add_task(say.text(phase), total=total)
            progress.update(tasks[phase], completed=done, total=total)

        yield show


def _counted(done: float, total: float | None, say: Translator) -> str:
    """Return a number of documents, with their total if it is known; empty for 0 of an unknown number.

    >>> from arbitre.language import ENGLISH
    >>> _counted(12000, 20000, ENGLISH), _counted(1200, None, ENGLISH), _counted(0, None, ENGLISH)
    ('12,000 of 20,000 documents', '1200 documents', '')
    """
    if total is not None:
        return say("table.progress.of", done=done, total=total)
    return say("table.progress.done", done=done) if done else ""


def _rate(rate: float, say: Translator) -> str:
    return f"{say.value(round(rate))}/s"


def _lines(screen: Terminal) -> Iterator[OnProgress]:
    say, finished = screen.say, threading.Event()
    phases: dict[Phase, tuple[float, int]] = {}
    """When each phase began, and the number of documents that were done then."""
    latest: list[tuple[Phase, int, int | None]] = []

    def show(phase: Phase, done: int, total: int | None) -> None:
        if phase not in phases:
            phases[phase] = time.monotonic(), done
        latest[:] = [(phase, done, total)]

    def line(phase: Phase, done: int, total: int | None) -> str:
        began, before = phases[phase]
        rate = (done - before) / max(time.monotonic() - began, 1e-9)
        parts = [_counted(done, total, say), _rate(rate, say) if done > before else ""]
        if total is not None and done > before:
            minutes, seconds = divmod(round((total - done) / rate), 60)
            parts.append(say("table.progress.left", time=f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"))
        return say("colon").join(filter(None, [say.text(phase), ", ".join(filter(None, parts))]))

    def print_lines() -> None:  # not in `show`, which is called for each document
        while not finished.wait(SECONDS):
            for step in latest:
                screen.note(line(*step))

    printer = threading.Thread(target=print_lines, daemon=True)
    printer.start()
    try:
        yield show
    finally:
        finished.set()
        printer.join()
