"""Commands whose parameters are option sets: dataclasses with an option for each field."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Annotated, Any, get_origin, get_type_hints

import typer

from arbitre.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def with_option_sets(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command in the form that Typer expects: with a parameter for each field of its option sets.

    A field is an option if its type is `Annotated[..., typer.Option(...)]`; other fields keep their defaults. A
    contradiction between options is reported as an invalid value.
    """
    hints: dict[str, Any] = get_type_hints(command, include_extras=True)
    sets: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        parameters += _options(sets[name]) if name in sets else [parameter.replace(annotation=hints[name])]

    @wraps(command)
    def packed(**values: Any) -> None:  # noqa: ANN401  (the values of any options)
        try:
            for name, option_set in sets.items():
                values[name] = option_set(**{option.name: values.pop(option.name) for option in _options(option_set)})
            command(**values)
        except OptionError as error:
            text = re.sub(r"`(\w+)`", lambda quoted: f"--{quoted[1].replace('_', '-')}", error.message)
            raise typer.BadParameter(text) from error

    packed.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
    return packed


def _options(option_set: Any) -> Iterator[Parameter]:  # noqa: ANN401  (the type of any option set)
    """Yield a parameter for each field that is an option."""
    for field in fields(option_set):
        if get_origin(field.type) is Annotated:
            default = Parameter.empty if field.default is MISSING else field.default
            yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=field.type)
