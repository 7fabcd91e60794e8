"""A JSON Patch (RFC 6902) that turns a prediction into gold: its operations, and how they are applied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from arbitre.errors import DataError
from arbitre.paths import list_position, unescape
from arbitre.values import ABSENT, Json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from arbitre.paths import Token

END: Final = "-"
"""Token of the position after the last item of a list (RFC 6901)."""


@dataclass(frozen=True, slots=True)
class PatchOperation:
    """One operation of a JSON Patch (RFC 6902).

    Attributes:
        op: "add", "remove" or "replace".
        path: JSON Pointer (RFC 6901) into the original prediction, still valid after the operations before.
        value: The value to write; ABSENT for "remove".
        gain: Change in the f1q of the entries if only this operation, and those that it needs, are applied to the
            prediction and the result is compared again; negative if it does harm. None if it was not computed.
        fault: Class of the fault that it repairs: close, wrong, wrong type, missing, spurious, moved, renamed, split or
            merged.
        quality_gain: The same change in the quality of the document, which also counts values outside the entries.
        needs: Positions in the patch of the operations that must be applied before this one; most need none.
    """

    op: str
    path: str
    value: Json = ABSENT
    gain: float | None = None
    fault: str = "wrong"
    quality_gain: float | None = None
    needs: tuple[int, ...] = ()

    def to_json_patch(self) -> dict[str, Any]:
        """Return the operation with the members that RFC 6902 defines."""
        plain = {"op": self.op, "path": self.path}
        return plain if self.value is ABSENT else plain | {"value": self.value}

    def to_dict(self) -> dict[str, Any]:
        """Return the operation with the further members `fault`, `gain`, `quality_gain` and `needs`.

        Implementations of RFC 6902 ignore members that they do not know. Gains that were not computed and empty `needs`
        are omitted.
        """
        gains = {"gain": self.gain, "quality_gain": self.quality_gain}
        plain = self.to_json_patch() | {"fault": self.fault}
        plain |= {name: gain for name, gain in gains.items() if gain is not None}
        return plain | {"needs": list(self.needs)} if self.needs else plain


class Patch(tuple[PatchOperation, ...]):
    """The operations that turn a prediction into gold, in order of application."""

    __slots__ = ()

    def to_json_patch(self) -> list[dict[str, Any]]:
        """Return the JSON Patch with the members that RFC 6902 defines."""
        return [operation.to_json_patch() for operation in self]

    def to_list(self) -> list[dict[str, Any]]:
        """Return the JSON Patch with the faults and gains of its operations, which implementations ignore."""
        return [operation.to_dict() for operation in self]

    def apply(self, document: Json) -> Json:
        """Return a copy of a document with all operations applied. The document is not modified.

        Args:
            document: The prediction, or `arbitre.ABSENT`.

        Returns:
            The result; ABSENT if the document was removed.

        Raises:
            DataError: The document does not have a value that is to be replaced or removed.
        """
        return applied(document, self)


def patch_path(tokens: Iterable[Token]) -> str:
    """Return the JSON Pointer of RFC 6901; unlike `arbitre.paths.pointer`, a key "*" is not escaped.

    >>> patch_path(["entries", 0, "a/b", "*"])
    '/entries/0/a~1b/*'
    """
    return "".join("/" + str(token).replace("~", "~0").replace("/", "~1") for token in tokens)


def patch_tokens(path: str) -> list[str]:
    """Return the tokens of a JSON Pointer of RFC 6901."""
    return [unescape(part) for part in path.split("/")[1:]]


def applied(document: Json, operations: Iterable[PatchOperation]) -> Json:
    """Return a copy of a document with operations applied in order. Parts that do not change are shared.

    >>> applied({"a": [1, 2]}, [PatchOperation("replace", "/a/0", 5), PatchOperation("remove", "/a/1")])
    {'a': [5]}

    Raises:
        DataError: The target of an operation does not exist.
    """
    holder: dict[str, Json] = {} if document is ABSENT else {"": document}
    copied: dict[int, Json] = {}  # the containers that were copied, by id, which keeps them alive
    for operation in operations:
        *above, last = ["", *patch_tokens(operation.path)]
        container: Json = holder
        for token in above:
            key = _key(container, token, operation)
            inner = container[key]
            if id(inner) not in copied and isinstance(inner, (dict, list)):
                inner = container[key] = inner.copy()
                copied[id(inner)] = inner
            container = inner
        _apply(container, last, operation)
    return holder.get("", ABSENT)


def _apply(container: Json, token: str, operation: PatchOperation) -> None:
    """Apply an operation to the container of its target."""
    if operation.op == "add" and isinstance(container, list):
        at = len(container) if token == END else _position(token, len(container), operation)
        container.insert(at, operation.value)
    elif operation.op == "add" and isinstance(container, dict):
        container[token] = operation.value
    elif operation.op == "remove":
        del container[_key(container, token, operation)]
    else:
        container[_key(container, token, operation)] = operation.value


def _key(container: Json, token: str, operation: PatchOperation) -> int | str:
    """Return the key or the position of an existing member or item."""
    if isinstance(container, list):
        return _position(token, len(container) - 1, operation)
    if not isinstance(container, dict) or token not in container:
        raise _no_target(operation)
    return token


def _position(token: str, last: int, operation: PatchOperation) -> int:
    position = list_position(token)
    if position is None or position > last:
        raise _no_target(operation)
    return position


def _no_target(operation: PatchOperation) -> DataError:
    return DataError.of(
        f"The document has no value to {operation.op}",
        pointer=operation.path,
        hint="Apply all operations of the patch, in order, to the prediction that was compared.",
    )
