"""JSON values: kinds, strict equality, canonical keys and absence."""

from __future__ import annotations

import enum
import gc
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from arbitre.errors import DataError, SchemaError
from arbitre.paths import pointer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterator, Sequence

    from arbitre.paths import Path

Json = Any
"""A JSON value as returned by `json.loads`: None, bool, int, float, str, list or dict."""

SIDES: Final = ("gold", "predicted")
"""The two sides of a comparison. Records that contain both documents have them under these keys."""


def as_tuple(given: Any) -> tuple[Any, ...]:  # noqa: ANN401  (one value, or several)
    """Return one or several values of an option as a tuple; None is no value. A text or a mapping is one value.

    >>> as_tuple("rouge1"), as_tuple(["a", "b"]), as_tuple(12), as_tuple(None)
    (('rouge1',), ('a', 'b'), (12,), ())
    """
    if given is None:
        return ()
    one = isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable)
    return (given,) if one else tuple(given)


MAX_DEPTH: Final = 512
"""Maximum nesting depth of lists and objects in a document."""

MAX_VALUES: Final = 1 << 22
"""Maximum number of values of a document, lists and objects included. The largest answers of language models have 4 MB
of text, and so at most half as many values. Comparing a document of this size takes about 15 s and 1 GB."""

MAX_EXACT_FLOAT: Final = 2.0**53
"""Largest magnitude up to which every integer is a float."""

MAX_BYTES: Final = 1 << 26
"""Maximum size of the JSON text of a document, in bytes."""

MAX_SHARED_VALUES: Final = 1 << 20
"""Maximum number of values of a document that contains the same Python list or object several times."""

_SHARING: Final = 64
"""Factor by which shared lists and objects may multiply the values of a document beyond `MAX_SHARED_VALUES`."""

_FEW_VALUES: Final = 1 << 16
"""Number of values up to which a value is checked without looking for shared parts; 15 times as fast."""

MAX_DIGITS: Final = 4_300
"""Maximum number of digits of an integer: the default limit of Python and of the JSON readers."""

_TOO_LARGE: Final = 10**MAX_DIGITS
_MAX_BITS: Final = _TOO_LARGE.bit_length() - 1

PATTERN_SECONDS: Final = 1.0
"""Timeout for matching a user's regular expression against one text, in seconds."""


class NotJsonError(DataError):
    """A value has a type that JSON does not have; `arbitre.parsing.json_form` may be able to convert it."""


class _Absent(enum.Enum):
    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"

    __str__ = __repr__

    def __bool__(self) -> bool:
        return False


ABSENT: Final = _Absent.ABSENT
"""Sentinel for a missing value, such as a missing key or prediction. Different from null."""


class Kind(enum.IntEnum):
    """Kind of a JSON value. Integers and other numbers are one kind."""

    NULL = 0
    BOOLEAN = 1
    NUMBER = 2
    STRING = 3
    ARRAY = 4
    OBJECT = 5

    @property
    def scalar(self) -> bool:
        """Whether values of this kind are neither lists nor objects."""
        return self < Kind.ARRAY

    @property
    def json_type(self) -> str:
        """The name of the type in JSON Schema; "number" for integers, too."""
        return self.name.lower()


SCALARS: Final = frozenset(kind for kind in Kind if kind.scalar)
"""The kinds of single values."""

KINDS: Final[dict[type, Kind]] = {
    type(None): Kind.NULL,
    bool: Kind.BOOLEAN,
    int: Kind.NUMBER,
    float: Kind.NUMBER,
    str: Kind.STRING,
    list: Kind.ARRAY,
    dict: Kind.OBJECT,
}


def read_kinds(given: Iterable[Kind | str], what: str, known: Iterable[Kind] = Kind) -> frozenset[Kind]:
    """Return kinds that are given as `Kind` or by their names, which are types of JSON Schema such as "number".

    Args:
        given: The kinds.
        what: What they are, for the error message.
        known: The accepted kinds.

    Raises:
        SchemaError: There is no kind, or one that is not accepted.

    >>> sorted(read_kinds(["number", Kind.STRING], "`kinds`"))
    [<Kind.NUMBER: 2>, <Kind.STRING: 3>]
    """
    names = {kind.json_type: kind for kind in known}
    listed = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else []
    kinds = [names.get(one) if isinstance(one, str) else one for one in listed]
    if not kinds or not all(isinstance(kind, Kind) and kind in names.values() for kind in kinds):
        got = repr(listed or given)
        raise SchemaError.of(f"Expected {what} to be a list of one or more of {', '.join(names)}, got {got}")
    return frozenset(kind for kind in kinds if kind is not None)


def kind_of(value: Json, at: Iterable[str | int] = ()) -> Kind:
    """Return the kind of a value.

    Args:
        value: The value.
        at: Path of the value, for the error message.

    Raises:
        DataError: The value is not JSON.
    """
    kind = KINDS.get(type(value))
    if kind is None:
        for base in (bool, int, float, str, list, dict):  # subclasses: enum members, ordered dictionaries, numpy floats
            if isinstance(value, base):
                return KINDS[base]
        raise NotJsonError.of(
            f"Expected a JSON value (null, boolean, number, text, list or object), got {type(value).__name__}",
            pointer=pointer(at),
            hint="Convert it to JSON types first.",
        )
    return kind


def check_number(value: float, at: Iterable[str | int] = ()) -> None:
    """Raise DataError if a number is NaN, infinite, or an integer with too many digits to be written as JSON."""
    if isinstance(value, int) and value.bit_length() > _MAX_BITS and abs(value) >= _TOO_LARGE:
        raise DataError.of(
            f"Expected an integer of at most {MAX_DIGITS} digits, got more",
            pointer=pointer(at),
            hint="Write it as text.",
        )
    if isinstance(value, float) and not math.isfinite(value):
        raise DataError.of(
            f"Expected a finite number, got {value}",
            pointer=pointer(at),
            hint="JSON has no NaN or Infinity: write null, or omit the key.",
        )


def check_integers(values: Sequence[int]) -> None:
    """Raise DataError if any of the integers has too many digits to be written as JSON."""
    if values and not -_TOO_LARGE < min(values) <= max(values) < _TOO_LARGE:
        for value in values:
            check_number(value)


def check_keys(value: dict[Any, Json], at: Iterable[str | int] = ()) -> None:
    """Raise NotJsonError if a key of the object is not text, or is formatted as another text in pointers."""
    for key in value:
        if type(key) is not str and not (isinstance(key, str) and f"{key}" == key):  # members of str enums
            raise NotJsonError.of(
                f"Expected every key to be text, got {key!r}", pointer=pointer(at), hint="JSON keys are always text."
            )


class _KeyTag(enum.Enum):
    """Tags in canonical keys that keep the keys of different values distinct."""

    NULL = 0
    FALSE = 1
    TRUE = 2
    ARRAY = 3
    OBJECT = 4


_COMPARABLE: Final = frozenset({str, int})
"""Types whose values are equal in Python if and only if they are equal as JSON."""


def canonical(value: Json) -> Hashable:
    """Return a hashable key that is equal for two values if and only if they are equal as JSON.

    True differs from 1, 1 equals 1.0, big integers are exact, key order is ignored, list order matters. The key of a
    list or an object is a flat tuple.

    Raises:
        DataError: The value is not JSON, or nested too deeply.

    >>> canonical(True) == canonical(1), canonical(1) == canonical(1.0)
    (False, True)
    >>> canonical({"a": 1, "b": []}) == canonical({"b": [], "a": 1.0})
    True
    """
    kind = kind_of(value)
    if kind is Kind.STRING or kind is Kind.NUMBER:
        check_number(value)
        return value  # type: ignore[no-any-return]
    if kind is Kind.NULL:
        return _KeyTag.NULL
    if kind is Kind.BOOLEAN:
        return _KeyTag.TRUE if value else _KeyTag.FALSE
    key: list[Hashable] = []
    pending: list[Json] = [value]
    unchecked = True
    while pending:
        if unchecked and len(key) > MAX_DEPTH:  # a shorter key cannot be nested too deeply
            unchecked = False
            check_depth(value)
        item = pending.pop()
        kind = kind_of(item)
        if kind is Kind.ARRAY:
            key += (_KeyTag.ARRAY, len(item))
            pending.extend(reversed(item))
        elif kind is Kind.OBJECT:
            check_keys(item)
            names = sorted(item)
            key += (_KeyTag.OBJECT, len(names), *names)
            pending.extend(item[name] for name in reversed(names))
        else:
            key.append(canonical(item))
    return tuple(key)


def canonical_keys(values: Sequence[Json]) -> Iterable[Hashable]:
    """Return the canonical key of each value, in order.

    If all values are texts or integers, they are their own keys and are not checked.

    >>> list(canonical_keys(["a", 1])), list(canonical_keys([2.5, None])) == [2.5, canonical(None)]
    (['a', 1], True)
    """
    return values if set(map(type, values)) <= _COMPARABLE else map(canonical, values)


def check(value: Json, what: str = "value") -> None:
    """Check that a value is JSON at every depth.

    Raises:
        DataError: A part of the value is not JSON, with its pointer in the value; a text has a lone surrogate; or see
            `check_depth`.
    """
    check_depth(value, what)
    pending: list[tuple[Json, tuple[str | int, ...]]] = [(value, ())]
    while pending:
        item, at = pending.pop()
        kind = kind_of(item, at)
        if kind is Kind.NUMBER:
            check_number(item, at)
        elif kind is Kind.ARRAY:
            pending.extend((part, (*at, position)) for position, part in enumerate(item))
        elif kind is Kind.OBJECT:
            check_keys(item, at)
            pending.extend((part, (*at, key)) for key, part in item.items())
            for key in item:
                check_text(key, at, "a key")
        elif kind is Kind.STRING:
            check_text(item, at)


_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def check_text(text: str, at: Path = (), what: str = "text") -> None:
    """Raise DataError if a text has a lone surrogate, which no file in UTF-8 can contain."""
    if not text.isascii() and (half := _SURROGATE.search(text)):
        raise DataError.of(
            f"Expected {what} of whole Unicode characters, got the lone surrogate {half[0]!r}",
            pointer=pointer(at),
            hint=r"Write both halves of the pair (\ud83d\ude00), or the character itself.",
        )


def check_depth(value: Json, what: str = "value", deepest: int = MAX_DEPTH, most: int = MAX_SHARED_VALUES) -> None:
    """Check that a value is not too large, nested too deeply or contains itself, and does not multiply its parts.

    Python objects may share parts: 40 lists that each contain the next one twice represent 2^40 values. Each list or
    object is visited once. Readers check the depth of texts; the engine checks documents while it builds columns.

    Args:
        value: A JSON value, or ABSENT.
        what: Name of the value in the message, such as "gold document".
        deepest: Maximum number of nested lists and objects.
        most: Maximum number of values if shared parts, counted each time they occur, multiply them by more than 64.

    Raises:
        DataError: The value exceeds a limit (`MAX_VALUES` in any case), or contains itself.
    """
    if not isinstance(value, (list, dict)) or _is_small(value, deepest, min(most, _FEW_VALUES)):
        return
    sizes: dict[int, tuple[int, int]] = {}  # nested levels and values of each list and object, by id
    unshared = 0
    above: set[int] = set()
    path = [(value, inner := _containers(value), iter(inner))]
    while path:
        container, inner, rest = path[-1]
        part = next((part for part in rest if id(part) not in sizes), None)
        if part is not None:
            above.add(id(container))
            if id(part) in above or len(path) == deepest:
                raise _too_deep(what, deepest)
            path.append((part, inner := _containers(part), iter(inner)))
            continue
        below = [sizes[id(part)] for part in inner]
        height = 1 + max((levels for levels, _ in below), default=0)
        if len(path) + height - 1 > deepest:
            raise _too_deep(what, deepest)
        unshared += len(container)
        sizes[id(container)] = height, len(container) + sum(values for _, values in below)
        above.discard(id(container))
        path.pop()
    if unshared >= MAX_VALUES:
        raise too_many_values(unshared + 1, what, MAX_VALUES)
    if sizes[id(value)][1] > min(max(most, _SHARING * unshared), MAX_VALUES):
        raise DataError.of(
            f"Expected at most {most} values in the {what}, got more, as lists or objects occur in it several times",
            hint="A Python list or object that occurs several times counts each time.",
        )


def too_many_values(count: int, what: str, most: int) -> DataError:
    """Return the error for a document of more than `most` values."""
    return DataError.of(
        f"Expected at most {most:,} values in the {what}, got {count:,}",
        pointer="",
        hint="Split it into several documents.",
    )


def are_small(documents: Sequence[Json]) -> bool:
    """Return True only if every document certainly passes `check_depth`. No document may be ABSENT.

    For 512 documents of 20 values each, this takes less than half the time of checking them one by one.
    """
    return _is_small(list(documents), MAX_DEPTH, _FEW_VALUES)


_SINGLE: Final = frozenset({str, int, float, bool, type(None)})
"""Types of single values."""

_PLAIN: Final = _SINGLE | {list, dict}


def _is_small(value: Json, deepest: int, most: int) -> bool:
    """Return True only if a value certainly has at most `deepest` nested lists and objects, and `most` values and keys.

    Only the plain types of JSON are examined; any other type gives False. `gc.get_referents` lists the contents of a
    whole level at once, in a third of the time of a loop.
    """
    level = [value]
    for _ in range(deepest + 1):
        types = set(map(type, level))
        if most < 0 or not types <= _PLAIN:
            return False
        if types <= _SINGLE:
            return True
        level = gc.get_referents(*level)
        most -= len(level)
    return False


def _containers(value: Json) -> list[Json]:
    """Return the lists and objects directly in a list or object."""
    inner = value.values() if isinstance(value, dict) else value
    return [part for part in inner if isinstance(part, (list, dict))]


def _too_deep(what: str, deepest: int) -> DataError:
    return DataError.of(
        f"Expected at most {deepest} nested lists and objects in the {what}, got more",
        hint="Flatten it. A list or object must not contain itself.",
    )


def equal(left: Json, right: Json) -> bool:
    """Return whether two values are equal as JSON.

    >>> equal([1, {"a": 2}], [1.0, {"a": 2}]), equal(0, False), equal(2**53 + 1, float(2**53))
    (True, False, False)
    """
    lists = type(left) is list and type(right) is list
    kinds = {*map(type, left), *map(type, right)} if lists else {type(left), type(right)}
    if kinds <= _COMPARABLE:  # a fifth of the time of canonical keys
        return left == right  # type: ignore[no-any-return]
    return canonical(left) == canonical(right)


def equal_or_absent(left: Json, right: Json) -> bool:
    """Return whether two values are equal as JSON, or both ABSENT."""
    if left is ABSENT or right is ABSENT:
        return left is right
    return equal(left, right)


def depth(value: Json) -> int:
    """Return the nesting depth of a value: 0 for a scalar, 1 for `[]` and `{"a": 1}`."""
    deepest = 0
    pending: list[tuple[Json, int]] = [(value, 1)]
    while pending:
        item, level = pending.pop()
        if isinstance(item, (list, dict)):
            deepest = max(deepest, level)
            inner = item.values() if isinstance(item, dict) else item
            pending.extend((part, level + 1) for part in inner if isinstance(part, (list, dict)))
    return deepest


def number_of_values(value: Json, most: float = math.inf) -> int:
    """Count the values in a JSON value, including itself and all lists and objects.

    If there are more than `most`, the result may be any number above `most`.

    >>> number_of_values({"a": [1, 2], "b": {}}, 100)
    5
    """
    count, level = 1, _containers([value])
    while level and count <= most:
        count += sum(map(len, level))
        level = [inner for container in level for inner in _containers(container)]
    return count


def single_values(value: Json) -> Iterator[Json]:
    """Yield the single values in a JSON value, in no particular order."""
    pending = [value]
    while pending:
        inner = pending.pop()
        if isinstance(inner, (list, dict)):
            pending += inner.values() if isinstance(inner, dict) else inner
        else:
            yield inner


@dataclass(frozen=True, slots=True)
class Absence:
    """Which of null, texts, [] and {} count as absent. Applied after normalisation; inherited by subschemas.

    Attributes:
        null: Whether null counts as absent.
        texts: The texts that count as absent, such as "" or "n/a".
        array: Whether [] counts as absent.
        object: Whether {} counts as absent.
        normal_texts: The normal forms of `texts` at a site.
    """

    null: bool = True
    texts: frozenset[str] = frozenset()
    array: bool = False
    object: bool = False
    normal_texts: frozenset[str] = field(default=frozenset(), compare=False)

    @classmethod
    def of(cls, values: Collection[Json]) -> Absence:
        """Create a policy that counts exactly these values as absent."""
        keys = {canonical(value) for value in values}
        texts = frozenset(value for value in values if isinstance(value, str))
        return cls(
            null=canonical(None) in keys,
            texts=texts,
            array=canonical([]) in keys,
            object=canonical({}) in keys,
            normal_texts=texts,
        )

    def normalized(self, normalize: Callable[[str], Json]) -> Absence:
        """Return the policy of a site whose values are normalised with a function."""
        normal = frozenset(form for text in self.texts if isinstance(form := normalize(text), str))
        return replace(self, normal_texts=normal)

    @property
    def values(self) -> tuple[Json, ...]:
        """The values that count as absent."""
        flags: tuple[tuple[bool, Json], ...] = ((self.array, []), (self.object, {}))
        containers = tuple(value for counts, value in flags if counts)
        return ((None,) if self.null else ()) + tuple(sorted(self.texts)) + containers

    def covers(self, value: Json) -> bool:
        """Return whether a normalised value counts as absent."""
        if value is None:
            return self.null
        if isinstance(value, str):
            return value in self.normal_texts
        if isinstance(value, list):
            return self.array and not value
        return isinstance(value, dict) and self.object and not value


_PLACEHOLDER: Final = re.compile(
    r"|null|<null>|\(null\)|nil|nan|n/a|#n/a|n\.a\.|undefined|no (value|data)"
    r"|not (available|applicable|specified|mentioned|stated|given|found|provided)"
    r"|non (renseigné|précisé|disponible)e?|sans objet|non specificato|no especificado"
    r"|nicht angegeben|keine angabe|k\. ?a\."
)
_DOUBTFUL_PLACEHOLDER: Final = re.compile(
    r"none|na|[ns]\. ?d\.|[-–—?.…/]+|unknown|missing|empty|tbd|inconnue?|néant|unbekannt|desconocido|sconosciuto"
)


def is_placeholder(text: str, *, certain: bool = False) -> bool:
    """Return whether a text can stand for no value.

    Args:
        text: The text. Case, underscores and white space do not matter.
        certain: Whether to return False for texts that can also be a category or a sign, such as "none" and "-".

    >>> [is_placeholder(text) for text in (" ", "NOT_FOUND", "N/A", "-", "none", "Rome")]
    [True, True, True, True, True, False]
    >>> is_placeholder("none", certain=True)
    False
    """
    words = " ".join(text.casefold().replace("_", " ").split())
    return bool(_PLACEHOLDER.fullmatch(words) or (not certain and _DOUBTFUL_PLACEHOLDER.fullmatch(words)))
