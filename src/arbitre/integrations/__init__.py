"""Adapters to other frameworks, one module each. A module imports its framework; `arbitre` imports none of them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from arbitre.errors import MissingLibraryError, missing_library

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def framework(package: str, module: str) -> Iterator[None]:
    """Raise MissingLibraryError, which says what to install, if an import within this context fails.

    Args:
        package: Name of the framework in the package index.
        module: Name of the adapter.
    """
    try:
        yield
    except ImportError as error:
        raise missing_library(package, None, module, error, MissingLibraryError) from error
