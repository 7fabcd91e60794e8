"""Plugin for pytest: an assertion on extracted documents, and a report of all documents of a session.

pytest loads this module at every start, so that it imports what it needs when it is needed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from arbitre.comparator import Comparator
    from arbitre.comparator.grader import Grade
    from arbitre.inputs.records import Pair
    from arbitre.schema import SchemaSource

_recorders: list[Recorder] = []
"""The recorder of the session; of a session within a test, the last one."""


def assert_matches(
    predicted: Any,  # noqa: ANN401  (any Python object with a JSON form)
    gold: Any,  # noqa: ANN401
    schema: SchemaSource | Comparator,
    f1q: float = 0.9,
    paths: Mapping[str, float | Mapping[str, float]] | None = None,
    **scores: float,
) -> Grade:
    """Fail if a predicted document is not close enough to gold. The message lists the values that differ.

    Args:
        predicted: The raw text of an answer, a JSON value, an instance of a model, or None; see `arbitre.Grader`.
        gold: A JSON value, an instance of a model, or a JSON text.
        schema: Schema of the documents; or a comparator, which saves compiling the schema in every test.
        f1q: Minimum f1q of the entries.
        paths: Minimum f1q by path, or minimum scores by path: `{"/people/*/name": {"irq": 0.8}}`.
        **scores: Minimum of other scores, such as `quality=0.9` or `**{"leaves.f1q": 0.9}`.

    Returns:
        The grade.

    Raises:
        QualityBoundError: A score is below its minimum. The error is also an AssertionError.
        DataError: Gold cannot be read.
        OptionError: A score is unknown, or a path is not one of the schema.
    """
    __tracebackhide__ = True
    from arbitre.comparator.feedback import described  # noqa: PLC0415
    from arbitre.comparator.grader import Grader  # noqa: PLC0415
    from arbitre.corpus.quality_bounds import TOLERANCE, with_paths  # noqa: PLC0415
    from arbitre.errors import Problem, QualityBoundError  # noqa: PLC0415

    grade = Grader(schema)(predicted, gold)
    if _recorders:
        _recorders[-1].add(grade)
    missed = [
        Problem(f"{name} is {value:.4f}, {least - value:.4f} below {least:g}")
        for name, least in with_paths({"f1q": f1q, **scores}, paths).items()
        if least - (value := grade.value(name)) > TOLERANCE
    ]
    if missed:
        reasons = [described(fault, WIDTH) for fault in grade.faults] or [grade.reason]
        raise QualityBoundError(*missed, *map(Problem, reasons))
    return grade


WIDTH = 200
"""Maximum length of a value in the message of a failure, in characters."""


@pytest.fixture(name="assert_matches")
def _assert_matches() -> Callable[..., Grade]:
    """The function `arbitre.integrations.pytest.assert_matches`."""
    return assert_matches


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--arbitre-report`."""
    parser.getgroup("arbitre").addoption(
        "--arbitre-report", metavar="FILE", help="write the report of all documents of assert_matches to this HTML file"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Record documents if a report is wanted. A file that arbitre did not write is refused at once."""
    file = config.getoption("--arbitre-report", default=None)
    if file is not None:
        from arbitre.errors import DataError  # noqa: PLC0415
        from arbitre.storage.output_folder import destination  # noqa: PLC0415

        try:
            destination(file)
        except DataError as error:
            raise pytest.UsageError(f"--arbitre-report: {error}") from None
        config.pluginmanager.register(Recorder(Path(file).absolute()), "arbitre-recorder")


class Recorder:
    """Records the documents of a session, and writes their report.

    Attributes:
        file: File of the report.
        test: The current test.
        comparators: The comparator of each schema, by its signature.
        pairs: The documents of each schema, by its signature.
        written: What was written.
        failure: Why the documents of a pytest-xdist worker are missing; None if they are not.
    """

    def __init__(self, file: Path) -> None:
        self.file, self.test = file, ""
        self.comparators: dict[str, Comparator] = {}
        self.pairs: dict[str, list[Pair]] = {}
        self.written: list[str] = []
        self.failure: str | None = None
        _recorders.append(self)

    def add(self, grade: Grade) -> None:
        """Record the documents of the current test."""
        from arbitre.inputs.records import Failure, Pair  # noqa: PLC0415

        comparator, reason = grade.grader.comparator, grade.failure
        signature = str(comparator.signature)
        self.comparators.setdefault(signature, comparator)
        pairs = self.pairs.setdefault(signature, [])
        run = 1 + sum(pair.id == self.test for pair in pairs)
        failure = None if reason is None else Failure("predicted", self.test, reason=reason)
        pairs.append(Pair(self.test, None if run == 1 else str(run), grade.gold, grade.predicted, failure))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.test = nodeid

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:  # noqa: ANN401  (of pytest-xdist)
        """Add the documents of a pytest-xdist worker."""
        import pickle  # noqa: PLC0415

        recorded = getattr(node, "workeroutput", {}).get("arbitre")
        if isinstance(recorded, str):
            self.failure = recorded
        elif recorded is not None:
            try:
                comparators, pairs = pickle.loads(recorded)  # noqa: S301  (written by our own process)
            except (ImportError, AttributeError) as error:
                self.failure = str(error)
                return
            self.comparators = comparators | self.comparators
            for signature, more in pairs.items():
                self.pairs.setdefault(signature, []).extend(more)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the reports. A pytest-xdist worker instead sends its documents, or the reason why it cannot."""
        _recorders.remove(self)
        if hasattr(session.config, "workeroutput"):
            import pickle  # noqa: PLC0415

            try:
                sent: bytes | str = pickle.dumps((self.comparators, self.pairs))
            except (pickle.PicklingError, AttributeError, TypeError) as error:
                sent = str(error)
            session.config.workeroutput["arbitre"] = sent
            return
        if self.failure is not None:
            self.written.append(
                "no arbitre report: a pytest-xdist worker could not send its documents to the main process "
                f"({self.failure}). Define custom functions with `def` in a module that the workers and the main "
                "process can import, or run pytest without -n."
            )
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
            return
        for number, signature in enumerate(sorted(self.pairs, key=lambda each: (-len(self.pairs[each]), each)), 1):
            file = self.file if number == 1 else self.file.with_stem(f"{self.file.stem}-{number}")
            pairs: Any = sorted(self.pairs[signature], key=lambda pair: (pair.id, pair.run or ""))
            self.comparators[signature].evaluate(pairs).report(file)
            self.written.append(f"arbitre report of {len(pairs)} document{'s' * (len(pairs) > 1)}: {file}")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:  # noqa: ANN401  (a private class)
        for line in self.written:
            terminalreporter.write_line(line)
