"""Custom normalisers: functions of one value, with checked results.

>>> own = with_normalizer("initials", lambda text: "".join(word[:1] for word in text.split()))
>>> own.build("initials")(["Ada Lovelace", 3])
['AL', 3]
"""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from arbitre.catalogue import Factory
from arbitre.errors import DataError, FunctionError, SchemaError
from arbitre.normalizers.builtin_normalizers import Normalizer, catalogue
from arbitre.values import Kind, check, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from arbitre.catalogue import Catalogue
    from arbitre.values import Json

SCALARS: Final = frozenset(kind for kind in Kind if kind.scalar)


@dataclass(frozen=True, slots=True)
class CustomFunction:
    """A custom function that is applied to single values of some kinds; `makes` are the kinds of its results."""

    name: str
    function: Callable[[Any], Any]
    makes: Mapping[Kind, frozenset[Kind]]

    def __call__(self, value: Json) -> Json:
        """Return the result for a value, or for each item of a list. Raises FunctionError if the function fails."""
        if isinstance(value, list):
            return list(map(self, value))
        kind = kind_of(value)
        if kind not in self.makes:
            return value
        try:
            result = self.function(value)
        except Exception as error:
            message = f"The normaliser `{self.name}` raised {type(error).__name__}: {error}, for {reprlib.repr(value)}"
            raise self._error(message, value) from error
        try:
            check(result)
            made = kind_of(result)
        except DataError as error:
            message = f"Expected the normaliser `{self.name}` to return JSON for {reprlib.repr(value)}, got"
            raise self._error(f"{message} {reprlib.repr(result)}", value) from error
        if made not in self.makes[kind]:
            kinds = " or ".join(sorted(made_kind.name.lower() for made_kind in self.makes[kind]))
            message = f"Expected the normaliser `{self.name}` to return a {kinds} for {reprlib.repr(value)}"
            raise self._error(f"{message}, got {reprlib.repr(result)}", value)
        return result

    @staticmethod
    def _error(message: str, value: Json) -> FunctionError:
        error = FunctionError.of(message, hint="It is called with single values of the kinds that it declares.")
        error.values = (value,)
        return error


def with_normalizer(
    name: str,
    function: Callable[[Any], Any],
    *,
    kinds: Iterable[Kind] = (Kind.STRING,),
    makes: Iterable[Kind] | None = None,
    identifies: str = "values for which it returns the same",
    known: Catalogue[Normalizer] = catalogue,
) -> Catalogue[Normalizer]:
    """Return a catalogue that also contains a custom normaliser.

    Args:
        name: Name of the normaliser in schemas.
        function: `function(value)` returns a JSON value that depends on `value` alone. It is called with single
            values, also with the items of lists.
        kinds: Kinds of single values that it is called with; other values are unchanged.
        makes: Kinds that it returns; by default, the kind of its argument.
        identifies: Description of the values that become equal, for the certificate.
        known: The catalogue to extend.

    Raises:
        SchemaError: The name is already in use, or a kind is not that of a single value.
    """
    taken = frozenset(kinds)
    if not taken <= SCALARS:
        raise SchemaError.of(f"Expected the kinds of the normaliser `{name}` to be those of single values")
    table = {kind: frozenset({kind}) if makes is None else frozenset(makes) for kind in taken}
    apply = CustomFunction(name, function, table)
    of_kinds = partial(Normalizer, name, identifies, apply, makes=table)
    return known.with_factory(name, Factory(lambda _: of_kinds(), "A custom normaliser."))
