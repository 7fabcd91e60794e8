"""The `Grader` scores one answer at a time, for graders, rewards and metrics of other frameworks."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from arbitre.comparator.comparator import Comparator, ComparatorKeywords, take_comparator
from arbitre.comparator.feedback import WORST, FeedbackStyle, described, feedback
from arbitre.comparison.node_tree import NodeTree
from arbitre.corpus.quality_bounds import QUALITY, QualityBound, parse_measure, score_of
from arbitre.corpus.worker import compare_pairs
from arbitre.engine import compare_batch
from arbitre.errors import DataError, FunctionError, OptionError, Problem, SolverError, did_you_mean
from arbitre.inputs.records import NO_PREDICTION, Pair
from arbitre.options import COMPARATOR, spelled_out
from arbitre.parsing import strict_json
from arbitre.parsing.json_form import json_form
from arbitre.parsing.repaired_json import check_strictness, read_answer
from arbitre.paths import order
from arbitre.tally import PathScores, Tally
from arbitre.values import ABSENT, as_tuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from arbitre.comparison import Comparison, Fault
    from arbitre.parsing.repaired_json import Strictness
    from arbitre.schema import SchemaSource
    from arbitre.tally import Scores
    from arbitre.values import Json


@dataclass(frozen=True, eq=False)
class Grade:
    """The score of one answer, as returned by a `Grader`. All other attributes are computed on first access.

    Attributes:
        score: The score, in [0, 1]. 0 for a failure. A score that is undefined for a document is 1 if there was nothing
            to find and nothing was found, otherwise 0.
        failure: Why the answer could not be read or compared; None if it could. A failed answer counts as a missing
            prediction.
        gold: The gold document.
        predicted: The document that was read from the answer; ABSENT for a failure.
        grader: The grader.
    """

    score: float
    failure: str | None
    gold: Json = field(repr=False)
    predicted: Json = field(repr=False)
    grader: Grader = field(repr=False)

    @cached_property
    def comparison(self) -> Comparison:
        """The comparison of gold with the answer; for a failure, with no prediction."""
        return self.grader.comparator.compare(gold=self.gold, predicted=self.predicted)

    @property
    def tally(self) -> Tally:
        """The tally of the entries. `Tally.sum(tallies).scores` are the pooled scores of several grades."""
        return self.comparison.scores.tally

    @cached_property
    def fields(self) -> Mapping[str, float | None]:
        """The f1q of each wildcard path, for single values and list items; None if neither side has a value there.

        The paths that the schema declares are always listed, so that grades of several documents have the same keys.
        """
        found = self.comparison.by_path
        paths = sorted(dict.fromkeys([*self.grader.paths, *found]), key=order)
        return {path: found[path].f1q if path in found else None for path in paths}

    def value(self, score: str) -> float:
        """Return another score of the same answer; see `score` of `Grader`. 0 for a failure. Raises OptionError."""
        measure = self.grader.measure(score)
        return 0.0 if self.failure is not None else _value(self.comparison, measure)

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """The faults of the answer, by the quality that the document loses by each, worst first; none for a failure."""
        if self.failure is not None:
            return ()
        return tuple(sorted(self.comparison.diagnosis.faults, key=self._loss, reverse=True))

    @cached_property
    def reason(self) -> str:
        """One sentence that explains the score: the worst faults, or why the answer could not be used."""
        if self.failure is not None:
            return f"The answer counts as missing: {self.failure}."
        if not self.faults:
            return _without_faults(self.comparison)
        count, worst = len(self.faults), "; ".join(map(described, self.faults[:WORST]))
        if count == 1:
            return f"1 fault: {worst}."
        return f"{count} faults, {'the worst' if count > WORST else 'worst first'}: {worst}."

    def feedback(
        self,
        style: FeedbackStyle = "compact",
        *,
        reveal: bool = True,
        templates: Mapping[str, str] | None = None,
    ) -> str:
        """Return the score and the faults as short sentences, one per line, for optimisers that rewrite prompts.

        Args:
            style: "compact" names the three worst faults and counts the others. "full" names all, and what to do about
                their causes; a single document is little evidence of a cause.
            reveal: Whether values of gold may be shown. If not, the feedback names only what the prediction and the
                schema contain, and advice is general. `failure` and user templates are shown as they are, with
                "(hidden)" in place of gold.
            templates: Sentences to use instead, by class of fault or by name ("score", "failure", "correct", "more",
                "cause"), with names in braces: {place}, {found}, {path}, {gold}, {predicted}; {score}; {failure};
                {correct}; {n}; {advice}. An empty sentence is left out.

        Raises:
            OptionError: The style, a template or a name in a template is unknown.

        >>> grader = Grader({"type": "object", "properties": {"name": {"type": "string"}, "born": {"type": "integer"}}})
        >>> grade = grader({"name": "Ada", "born": 1851}, {"name": "Ada", "born": 1815})
        >>> print(grade.feedback())
        Score: 0.50.
        - /born should be 1815, not 1851.
        >>> print(grade.feedback(reveal=False))
        Score: 0.50.
        - /born is wrong: 1851.
        """
        return feedback(self, style, templates or {}, self.grader.declared, reveal=reveal)

    @cached_property
    def _losses(self) -> tuple[dict[str, float], dict[str, float]]:
        """The quality that the document loses at each pointer in gold, and at each pointer in the prediction."""
        levels = self.comparison.levels
        tree = NodeTree.of(levels)
        outer = np.concatenate([np.full(len(level), not level.inner) for level in levels])
        lost = (tree.shares() * (1.0 - np.concatenate([level.quality for level in levels])) * outer).tolist()
        sides: tuple[dict[str, float], dict[str, float]] = {}, {}
        for side, gold in zip(sides, (True, False), strict=True):
            for pointer, loss in zip(tree.pointers(gold=gold), lost, strict=True):
                if pointer is not None:
                    side[pointer] = side.get(pointer, 0.0) + loss
        return sides

    def _loss(self, fault: Fault) -> float:
        """Return the quality that the document loses by a fault."""
        in_gold, in_prediction = self._losses
        if fault.gold_pointer is not None:
            return in_gold[fault.gold_pointer]
        return in_prediction[fault.predicted_pointer or ""]

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serialisable dictionary."""
        tally = self.tally
        return {
            "score": self.score,
            "failure": self.failure,
            "reason": self.reason,
            "fields": dict(self.fields),
            "tally": [tally.gold, tally.predicted, tally.matched, tally.quality, tally.quality_sq],
        }

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes without the comparison, which a copy computes again."""
        return {name: value for name, value in vars(self).items() if name != "comparison"}


class Grader:
    r"""Scores model answers one at a time: `grader(answer, gold)` returns a `Grade`.

    The schema is compiled once. A grader may be called from several threads and from coroutines, and can be pickled.

    Args:
        schema: Schema of the documents, or a comparator.
        score: "quality" (of the whole document), or a score as in `check_bounds`: `f1q`, `fq(2)`, `leaves.f1q` or
            `/people/*/name:irq`.
        strictness: Which answers are accepted, as in `read_answer`. "strict" accepts only valid JSON.
        **options: The options of `Comparator`, such as `overlay`.

    Attributes:
        comparator: The comparator.
        score: The score.
        strictness: Which answers are read.
        paths: The declared paths of single values and list items.
        declared: All declared paths.

    Raises:
        SchemaError: The schema is invalid.
        OptionError: The score is unknown or has no value for a single document, or a comparator is given together with
            one of its options.

    >>> person = {"type": "object", "properties": {"name": {"type": "string"}, "born": {"type": "integer"}}}
    >>> grader = Grader(person)
    >>> grade = grader('```json\n{"name": "Ada", "born": 1851}\n```', {"name": "Ada", "born": 1815})
    >>> grade.score, grade.fields, grade.reason
    (0.5, {'/born': 0.0, '/name': 1.0}, '1 fault: /born should be 1815, not 1851.')
    >>> grader("I cannot help with that.", {"name": "Ada"}).score
    0.0
    """

    @spelled_out(*COMPARATOR)
    def __init__(
        self,
        schema: SchemaSource | Comparator,
        score: str = "quality",
        *,
        strictness: Strictness = "lenient",
        **options: Unpack[ComparatorKeywords],
    ) -> None:
        check_strictness(strictness)
        self.comparator = take_comparator(schema, {**options})
        self.score = score
        self.strictness: Strictness = strictness
        rows = [row for row in self.comparator.explain() if row.notes != "ignored"]
        self.paths = tuple(row.path for row in rows if row.distance or row.path.endswith("/*"))
        self.declared = frozenset(row.path for row in rows)
        self._measure = self.measure(score)

    def __call__(self, answer: Any, gold: Any) -> Grade:  # noqa: ANN401  (any Python object with a JSON form)
        """Score an answer.

        Args:
            answer: The raw text of an answer, which may be fenced or damaged; a JSON value; an instance of a model; or
                ABSENT if there is no answer. None means null if the schema allows null as a document, and no
                answer otherwise. If the schema allows a text as a document, a text is the document itself. If the
                schema allows any document, this applies only if gold is a text that is not JSON.
            gold: A JSON value, an instance of a model, or a JSON text.

        Returns:
            The grade. An answer that cannot be read or compared is a failure: its score is 0, and it counts as a
            missing prediction, as in `arbitre evaluate`.

        Raises:
            DataError: Gold cannot be read or compared.
            FunctionError: A custom distance or normaliser fails.
            SolverError: A matching cannot be computed for another reason than the documents.
        """
        reference = self._gold(gold)
        try:
            predicted = self._predicted(answer, as_text=self._is_text(gold, reference))
        except DataError as error:
            return Grade(0.0, _reason_of(error), reference, ABSENT, self)
        try:
            return Grade(self._score(reference, predicted), None, reference, predicted, self)
        except FunctionError:
            raise
        except (DataError, SolverError) as error:
            return Grade(0.0, self._refused(reference, predicted, error), reference, ABSENT, self)

    def measure(self, score: str) -> QualityBound:
        """Return a score as a bound of 0 on it. Raises OptionError if a single document has no such score."""
        scope, name, argument = parse_measure(QUALITY if score == "quality" else score)
        if scope == "macro" or (scope == QUALITY and name != "mean"):
            raise OptionError.of(
                f"Expected `score` to be a score of a single document, got {score!r}",
                hint='Use "quality", or a score such as "f1q". Their mean over documents is the macro average.',
            )
        declared = {row.path for row in self.comparator.explain()}
        if scope.startswith("/") and scope not in declared:
            raise OptionError.of(
                f"Expected `score` to name a path of the schema, got {scope!r}", hint=did_you_mean(scope, declared)
            )
        return QualityBound(scope, name, argument, 0.0)

    def check_paths(self, paths: str | Iterable[str]) -> tuple[str, ...]:
        """Return wildcard paths. Raises OptionError if the schema lacks one."""
        return tuple(path for path in as_tuple(paths) if self.measure(f"{path}:f1q"))

    def _gold(self, gold: Any) -> Json:  # noqa: ANN401
        """Return the gold document. Raises DataError."""
        plan = self.comparator.plan
        if isinstance(gold, (str, bytes)) and not plan.allows_text:
            strict_json.check_size(gold)
            try:
                document = strict_json.parse(gold)
            except DataError:
                if plan.expected is not None or isinstance(gold, bytes):
                    raise
                document = gold
        else:
            document = json_form(gold)
        if document is ABSENT or (document is None and not plan.allows_null):
            raise DataError.of(
                "Expected a gold document, got none", hint="Pass a JSON value, an instance of a model, or a JSON text."
            )
        strict_json.check_value(document, "gold document")
        return document

    def _is_text(self, gold: Any, reference: Json) -> bool:  # noqa: ANN401
        """Return whether texts are documents: if the schema says so or, if it allows anything, if gold is a text."""
        plan = self.comparator.plan
        return plan.allows_text or (plan.expected is None and isinstance(reference, str) and reference == gold)

    def _predicted(self, answer: Any, *, as_text: bool) -> Json:  # noqa: ANN401
        """Return the document in an answer. Raises DataError."""
        if answer is ABSENT or (answer is None and not self.comparator.plan.allows_null):
            raise DataError.of(NO_PREDICTION)
        document = answer
        if isinstance(answer, (str, bytes)) and not as_text:
            strict_json.check_size(answer)
            document = read_answer(answer, strictness=self.strictness).value
            while isinstance(document, str) and self.strictness != "strict":  # JSON in a JSON text
                document = read_answer(document, strictness=self.strictness).value
        else:
            document = json_form(answer)
        strict_json.check_value(document, "predicted document")
        return document

    def _score(self, gold: Json, predicted: Json) -> float:
        """Return the score of a prediction. Raises DataError or SolverError."""
        plan, measure = self.comparator.plan, self._measure
        plan.check_pair(gold, predicted)
        if measure.scope == QUALITY:  # without the levels of the result, which take a third of the time
            result = compare_batch(plan, [gold], [predicted], ask=True)
            if result.batch is not None and len(result.batch):
                return float(result.batch.quality[0])
            return float(len(result.missing) == len(result.spurious) == 0)  # null on one side, or on both
        return _value(self.comparator.compare(gold=gold, predicted=predicted), measure)

    def _refused(self, gold: Json, predicted: Json, error: DataError | SolverError) -> str:
        """Return why a prediction cannot be compared. Raises the error again if it does not concern the prediction."""
        for members, _, failures in compare_pairs(self.comparator.plan, [Pair("", None, gold, predicted)]):
            if members and failures:
                return str(Problem(failures[0].reason, pointer=failures[0].pointer))
        raise error


def _value(comparison: Comparison, measure: QualityBound) -> float:
    """Return the value of a score; if it is undefined, 1 if there was nothing to find and nothing was found, else 0."""
    if measure.scope == QUALITY:
        return comparison.quality
    if measure.scope.startswith("/"):
        scores: Scores = comparison.by_path.get(measure.scope, PathScores(Tally()))
    else:
        scores = comparison.leaves if measure.scope == "leaves" else comparison.scores
    value = score_of(scores, measure)
    return float(scores.vacuous) if value is None else value


def _reason_of(error: DataError) -> str:
    return str(Problem(error.message, pointer=error.pointer)).removesuffix(".")


def _without_faults(comparison: Comparison) -> str:
    """Return the reason for a prediction without faults."""
    leaves = comparison.leaves
    if leaves.vacuous:
        return "Gold and the answer are both empty."
    return f"All {leaves.gold:g} values match gold." if leaves.gold != 1.0 else "The value matches gold."
