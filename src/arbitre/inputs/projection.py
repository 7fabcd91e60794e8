"""Projections: JMESPath expressions that transform documents before comparison."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from arbitre.errors import DataError, Problem, did_you_mean, optional_library
from arbitre.parsing import strict_json
from arbitre.values import SIDES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from arbitre.inputs.records import Side
    from arbitre.values import Json


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled JMESPath expression; `text` is its source."""

    side: Side
    text: str
    compiled: Any

    def apply(self, value: Json) -> Json:
        """Apply the expression to a document. Raises DataError if this fails or the result is null."""
        try:
            found = self.compiled.search(value)
        except (ValueError, RecursionError) as error:
            raise DataError.of(
                f"The {self.side} expression {self.text!r} failed: {error}", hint="Correct --project."
            ) from None
        if found is None and value is not None:
            raise DataError.of(
                f"Expected the {self.side} expression {self.text!r} to return a value, got null",
                hint="Correct --project, or give the document the same structure as the others.",
            )
        return found


@dataclass(frozen=True, slots=True)
class Projection:
    """Expressions for both sides; None leaves documents unchanged. `file` is the file that contains them, if any."""

    gold: Expression | None = None
    predicted: Expression | None = None
    file: str | None = None

    @classmethod
    def from_expressions(cls, expressions: Mapping[str, Json], *, file: str | None = None) -> Projection:
        """Compile `{"gold": EXPRESSION, "predicted": EXPRESSION}`; a side without a key is not projected.

        `file` is named in errors.

        Raises:
            DataError: There are other keys or invalid expressions (the error lists every problem), or jmespath is not
                installed.

        >>> projection = Projection.from_expressions({"predicted": "{names: people[].name}"})
        >>> projection.predicted.apply({"people": [{"name": "Ada"}, {"name": "Bo"}]})
        {'names': ['Ada', 'Bo']}
        """
        library = _library()
        compiled: dict[str, Expression] = {}
        problems: list[Problem] = []
        for name, text in expressions.items():
            try:
                compiled[name] = _compiled(library, name, text)
            except DataError as error:
                problems += error.problems
        if problems or not compiled:
            none = Problem("Expected an expression for gold or predicted, got none", pointer="", hint=_HINT)
            raise DataError(*problems or [none]).located(file=file)
        return cls(**compiled, file=file)

    @classmethod
    def load(cls, path: str | Path) -> Projection:
        """Read a projection from a JSON file. Raises DataError."""
        value = strict_json.load(Path(path))
        if not isinstance(value, dict):
            raise DataError.of("Expected an object of expressions", file=str(path), pointer="", hint=_HINT)
        return cls.from_expressions(value, file=str(path))

    @property
    def signature(self) -> dict[str, str]:
        """Signature entries: the sources of the expressions, under `project.gold` and `project.predicted`."""
        both = (self.gold, self.predicted)
        return {f"project.{expression.side}": expression.text for expression in both if expression is not None}


def _library() -> ModuleType:
    with optional_library("jmespath", "corpus", "A projection"):
        import jmespath  # noqa: PLC0415  (an extra)
    return jmespath


_HINT: Final = """Example: {"gold": "entries", "predicted": "answer.people[].{name: full_name}"}."""


def _compiled(library: ModuleType, name: str, text: Json) -> Expression:
    if name not in SIDES:
        raise DataError.of(
            f"Expected gold or predicted, got {name!r}", pointer=f"/{name}", hint=did_you_mean(name, SIDES, _HINT)
        )
    side: Side = "gold" if name == "gold" else "predicted"
    if not isinstance(text, str):
        raise DataError.of("Expected an expression to be a string", pointer=f"/{name}", hint=_HINT)
    try:
        return Expression(side, text, library.compile(text))
    except ValueError as error:
        raise DataError.of(
            f"Expected a JMESPath expression, got {text!r}: {error}",
            pointer=f"/{name}",
            hint="See https://jmespath.org.",
        ) from None
