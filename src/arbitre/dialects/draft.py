"""The overlay under construction, and the keywords that it cannot express."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arbitre.errors import shown
from arbitre.paths import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from arbitre.dialects.position import Position
    from arbitre.errors import Problem
    from arbitre.schema import Subschema
    from arbitre.values import Json


def is_number(value: Json) -> bool:
    """Return whether a value is a finite number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < math.inf


class ParameterType(NamedTuple):
    """A type of value that another tool accepts for a parameter.

    Attributes:
        accepts: Returns whether a value is accepted.
        text: Description of the accepted values, for error messages.
    """

    accepts: Callable[[Any], bool]
    text: str


AMOUNT: Final = ParameterType(lambda value: is_number(value) and value >= 0, "a number of at least 0")
OPTIONAL_AMOUNT: Final = ParameterType(lambda value: value is None or AMOUNT.accepts(value), f"{AMOUNT.text}, or null")
INTEGER: Final = ParameterType(lambda value: isinstance(value, int) and not isinstance(value, bool), "an integer")
TEXT: Final = ParameterType(lambda value: isinstance(value, str), "a text")
LIST: Final = ParameterType(lambda value: isinstance(value, list), "a list")
OBJECT: Final = ParameterType(lambda value: isinstance(value, dict), "an object")


@dataclass(frozen=True, slots=True)
class Untranslated:
    """A keyword of another tool that has no equivalent in arbitre.

    Attributes:
        pointer: JSON Pointer of the keyword, or of the subschema whose default it is.
        path: Wildcard path of the values.
        keyword: The keyword with its value, as text.
        reason: Why it has no equivalent.
        nearest: The settings that come nearest, by path; empty if there are none.
        file: File of the schema; None if it is not in a file.
    """

    pointer: str
    path: str
    keyword: str
    reason: str
    nearest: Mapping[str, Json] = field(default_factory=dict)
    file: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serialisable dictionary."""
        return asdict(self)


@dataclass(slots=True)
class Draft:
    """An overlay under construction.

    Attributes:
        nearest: Whether the overlay also gets the nearest settings of what is not translated.
        overlay: The settings by path.
        untranslated: The keywords that the overlay does not express.
        problems: Values that the other tool does not accept.
    """

    nearest: bool = False
    overlay: dict[str, dict[str, Json]] = field(default_factory=dict)
    untranslated: list[Untranslated] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def set(self, position: Position, settings: Mapping[str, Json]) -> None:
        """Add settings for the values at a position. Another branch of a union may have set others: these stay."""
        known = self.overlay.setdefault(position.path, {})
        if any(known.get(key, value) != value for key, value in settings.items()):
            reason = "another branch of the union compares the values at this path in another way"
            self.miss(position, None, reason, value=shown(settings))
        else:
            known.update(settings)

    def miss(
        self,
        position: Position,
        key: str | None,
        reason: str,
        nearest: Mapping[str, Json] | None = None,
        *,
        part: Subschema | None = None,
        value: str | None = None,
    ) -> None:
        """List a keyword as untranslated.

        Args:
            position: Where it applies.
            key: The keyword; None for a default of the other tool.
            reason: Why it has no equivalent.
            nearest: The nearest settings at the position.
            part: The subschema that has the keyword, if it is not the one at the position.
            value: Its value, as text.
        """
        where = part or position.node
        place = where.pointer if key is None else f"{where.pointer}/{escape(key)}"
        value = shown(where.schema[key]) if value is None and key is not None else value
        text = " ".join(word for word in (key or "(default)", value) if word)
        settings = {position.path: dict(nearest)} if nearest else {}
        self.untranslated.append(Untranslated(place, position.path, text, reason, settings, where.file))
        if nearest and self.nearest:
            self.overlay.setdefault(position.path, {}).update(nearest)

    def expect(
        self,
        ok: bool,  # noqa: FBT001
        position: Position,
        key: str,
        expected: str,
        *,
        part: Subschema | None = None,
        inside: tuple[str | int, ...] = (),
    ) -> bool:
        """Return whether the value of a keyword is valid; if not, add a problem.

        Args:
            ok: Whether it is valid.
            position: Where it applies.
            key: The keyword.
            expected: The values that the other tool accepts.
            part: The subschema that has the keyword, if it is not the one at the position.
            inside: Keys and indices that lead from the value of the keyword to the value that was checked.
        """
        if not ok:
            where = part or position.node
            value = where.schema[key]
            for token in inside:
                value = value[token]
            name = [token for token in (key, *inside) if isinstance(token, str)][-1]
            self.problems.append(where.problem(f"Expected `{name}` to be {expected}, got {shown(value)}", key, *inside))
        return ok

    def expect_parameters(
        self,
        parameters: Mapping[str, Json],
        kinds: Mapping[str, ParameterType],
        position: Position,
        key: str,
        *,
        part: Subschema | None = None,
        inside: tuple[str | int, ...] = (),
    ) -> bool:
        """Return whether the parameters in the value of a keyword are valid; add a problem for each that is not.

        Args:
            parameters: Values by parameter.
            kinds: The accepted values by parameter; parameters without an entry are not checked.
            position: Where the keyword applies.
            key: The keyword.
            part: The subschema that has the keyword, if it is not the one at the position.
            inside: Keys and indices that lead from the value of the keyword to the parameters.
        """
        found = [
            self.expect(kind.accepts(parameters[name]), position, key, kind.text, part=part, inside=(*inside, name))
            for name, kind in kinds.items()
            if name in parameters
        ]
        return all(found)
