"""Structured errors: message, location (file, line, JSON Pointer) and a hint on how to fix the problem."""

from __future__ import annotations

import json
import re
import reprlib
import shlex
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import SequenceMatcher, get_close_matches
from itertools import accumulate
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Problem:
    """A single problem that an error reports, with its location.

    Attributes:
        message: Description of the problem.
        file: Name of the file, if known.
        line: Line in the file, from 1, if known.
        pointer: JSON Pointer (RFC 6901) to the value, if known; "" is the root.
        hint: How to fix the problem, if known.
    """

    message: str
    file: str | None = None
    line: int | None = None
    pointer: str | None = None
    hint: str | None = None

    def __str__(self) -> str:
        place = self.file or ""
        if self.line is not None:
            place = f"{place}:{self.line}" if place else f"line {self.line}"
        text = self.message if self.pointer is None else f"{self.message} at {self.pointer or 'the root'}"
        text = f"{place}: {text}" if place else text
        return f"{text}\n  {self.hint}" if self.hint else text


class ArbitreError(Exception):
    """Base class of all errors that arbitre raises; `problems` lists every problem found.

    The attributes `message`, `file`, `line`, `pointer` and `hint` are those of the first problem.
    """

    def __init__(self, *problems: Problem) -> None:
        super().__init__(*problems)
        self.problems = problems

    @classmethod
    def of(
        cls,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        pointer: str | None = None,
        hint: str | None = None,
    ) -> Self:
        """Create an error with a single problem."""
        return cls(Problem(message, file, line, pointer, hint))

    def located(self, *, file: str | None = None, line: int | None = None) -> Self:
        """Return a copy of the error with missing file names and lines filled in."""
        return type(self)(
            *(
                replace(
                    problem,
                    file=problem.file if problem.file is not None else file,
                    line=problem.line if problem.line is not None else line,
                )
                for problem in self.problems
            )
        )

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))

    @property
    def message(self) -> str:
        """What is wrong, in the first problem."""
        return self.problems[0].message

    @property
    def file(self) -> str | None:
        """File of the first problem."""
        return self.problems[0].file

    @property
    def line(self) -> int | None:
        """Line in the file, from 1."""
        return self.problems[0].line

    @property
    def pointer(self) -> str | None:
        """JSON Pointer of the first problem in its document or schema."""
        return self.problems[0].pointer

    @property
    def hint(self) -> str | None:
        """How to solve the first problem."""
        return self.problems[0].hint


class SchemaError(ArbitreError):
    """The schema, its `x-arbitre` settings or an overlay is invalid."""


class DataError(ArbitreError):
    """A document cannot be read or compared, or the data do not contain a requested path, column or id."""


class MissingLibraryError(DataError, ImportError):
    """A framework that an adapter in `arbitre.integrations` needs is not installed. Also an ImportError."""


class OptionError(ArbitreError):
    """An option is unknown or has an invalid value, or the options of a call contradict each other.

    An invalid value is invalid for any data. Messages quote the names of options: `id_key`.
    """


class QualityBoundError(ArbitreError, AssertionError):
    """A score does not meet a quality bound. There is one problem for each such score."""


QualityGateError = QualityBoundError
"""Former name."""


class SolverError(ArbitreError):
    """A numerical solver failed or returned an invalid result.

    With a pointer, a list of one document cannot be matched; the other documents are not affected.
    """


class FunctionError(SolverError):
    """A custom distance, normaliser or matching raised an exception or returned an invalid result.

    An exception of the function is the `__cause__` of the error.

    Attributes:
        values: The values that the function was called with.
        document: Position of the document pair in its batch, if known; during the comparison, its row of the root.
    """

    values: tuple[Any, ...] = ()
    document: int | None = None

    def placed(self, where: str, **place: Any) -> Self:  # noqa: ANN401  (fields of Problem)
        """Return a copy with text added about the location, and with these fields set in the problems."""
        error = type(self)(*(replace(problem, message=problem.message + where, **place) for problem in self.problems))
        error.values, error.document, error.__cause__ = self.values, self.document, self.__cause__
        return error


def check_integer(option: str, value: object, *, least: int = 0, hint: str | None = None) -> None:
    """Raise OptionError if the value of an option is not an integer of at least `least`. NumPy integers are accepted.

    >>> check_integer("seed", -1)
    Traceback (most recent call last):
    arbitre.errors.OptionError: Expected `seed` to be an integer of at least 0, got -1
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise OptionError.of(f"Expected `{option}` to be an integer of at least {least}, got {shown(value)}", hint=hint)


def check_level(level: object) -> None:
    """Raise OptionError if a confidence level is not a number between 0 and 1."""
    if not (isinstance(level, Real) and 0.0 < float(level) < 1.0):
        raise OptionError.of(f"Expected `level` to be between 0 and 1, got {shown(level)}", hint="95% is 0.95.")


@contextmanager
def optional_library(
    library: str, extra: str | None, purpose: str, kind: type[ArbitreError] = DataError, file: str | None = None
) -> Iterator[None]:
    """If an import within this context fails, raise an error that says what to install.

    Args:
        library: Name of the library.
        extra: Extra of arbitre that contains it; None if there is none.
        purpose: Subject of the message, which needs the library.
        kind: Class of the error.
        file: The file that needs the library, if any.

    >>> with optional_library("nltk", "text", "The distance `pk`"):
    ...     raise ImportError("No module named 'nltk'")
    Traceback (most recent call last):
    arbitre.errors.DataError: The distance `pk` needs nltk, which cannot be imported: No module named 'nltk'
      Install it: pip install 'arbitre[text]'
    """
    try:
        yield
    except ImportError as error:
        message = f"{purpose} needs {library}, which cannot be imported: {error}"
        wanted = library.lower() if extra is None else f"'arbitre[{extra}]'"
        raise kind.of(message, file=file, hint=f"Install it: pip install {wanted}") from error


def folder_problem(folder: Path) -> Problem:
    """Return the problem of a folder where a file is expected; the hint names the results in it, if any."""
    names = [name for name in ("evaluation.json", "factors.json", "schema.json") if (folder / name).is_file()]
    hint = f"Use {' or '.join(str(folder / name) for name in names)}." if names else "Name a file in it."
    return Problem("Expected a file, got a folder", str(folder), hint=hint)


def unreadable(path: Path, error: Exception) -> DataError:
    """Return the error for a file that cannot be opened, read or decompressed."""
    if isinstance(error, IsADirectoryError):
        return DataError(folder_problem(path))
    hint = "Check the name and the permissions."
    if getattr(error, "errno", None) is None and path.exists():  # raised by a decompressor or a parser
        hint = "Check that the file is complete and has the format that its suffix states."
    return DataError.of(f"Cannot read the file: {getattr(error, 'strerror', None) or error}", file=str(path), hint=hint)


MARGIN: Final = 0.25
"""Maximum difference in similarity between the two suggestions of a hint."""


LISTED: Final = 600
"""Maximum length of the list of names in a hint, in characters."""


def did_you_mean(word: str, known: Iterable[str], otherwise: str | None = None) -> str | None:
    """Return a hint for an unknown name: the most similar names first, then the others.

    Args:
        word: The unknown name.
        known: The valid names. If the others have more than `LISTED` characters, the hint says how many are left out.
        otherwise: Sentence to append if no name is similar.

    Returns:
        The hint; None if there are neither names nor `otherwise`.

    >>> did_you_mean("hungarain", ["hungarian", "greedy", "set"])
    'Did you mean "hungarian"? Also available: greedy, set.'
    >>> did_you_mean("best", ["hungarian", "greedy"], "The default is hungarian.")
    'Available: hungarian, greedy. The default is hungarian.'
    """
    names = list(dict.fromkeys(known))
    close = _similar(word, names)
    others = [name for name in names if name not in close]
    listed = f"{'Also available' if close else 'Available'}: {_listed(others)}." if others else None
    return " ".join(filter(None, (nearest(word, close), listed, None if close else otherwise))) or None


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return a hint with the names most similar to `word`, for messages that list all; None if there are none.

    >>> nearest("hungarain", ["hungarian", "greedy"])
    'Did you mean "hungarian"?'
    """
    quoted = " or ".join(f'"{name}"' for name in _similar(word, list(known)))
    return f"Did you mean {quoted}?" if quoted else None


def _similar(word: str, known: list[str]) -> list[str]:
    close = get_close_matches(word, known, n=2, cutoff=0.6)
    likeness = [SequenceMatcher(None, name, word).ratio() for name in close]
    return [name for name, ratio in zip(close, likeness, strict=True) if ratio >= likeness[0] - MARGIN]


def _listed(names: list[str]) -> str:
    """Return as many names as fit. Names that are empty or contain spaces are in quotes."""
    written = [name if name and " " not in name else f'"{name}"' for name in names]
    lengths = accumulate(len(name) + 2 for name in written)
    count = max(sum(1 for length in lengths if length <= LISTED), 1)
    rest = len(written) - count
    return ", ".join(written[:count]) + (f" and {rest:,} more" if rest else "")


ROOM: Final = 80
"""Maximum length of a value in a message, in characters."""

_SHORT: Final = reprlib.Repr()
"""Writes values that are not JSON, of any depth and size."""
_SHORT.maxother = ROOM


def shown(value: object, room: int = ROOM) -> str:
    """Return the JSON text of a value, or its short `repr` if it is not JSON, clipped to `room` characters.

    >>> shown({"name": "Ada"}, 10), shown({"name": 1j})
    ('{"name": …', "{'name': 1j}")
    """
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = _SHORT.repr(value)
    return clipped(text, room)


def clipped(text: str, room: int = 300) -> str:
    """Return the text, truncated with an ellipsis if it is longer than `room` characters.

    >>> clipped("quill", 4)
    'qui…'
    """
    return text if len(text) <= room else text[: room - 1] + "…"


def shell_quoted(word: str) -> str:
    """Return a word of a suggested command, such as a path, in quotes if a shell would change it.

    Double quotes are used if possible, because Windows has no single quotes.

    >>> shell_quoted("thèse.json"), shell_quoted("my gold.json"), shell_quoted("$gold")
    ('thèse.json', '"my gold.json"', "'$gold'")
    """
    if re.fullmatch(r"[\w@%+=:,./-]+", word):  # shlex would also quote accented letters
        return word
    return shlex.quote(word) if set(word) & set('"$`') else f'"{word}"'


HIDDEN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
"""Control characters, bidirectional marks, invisible characters, lone surrogates and tags."""


def show_hidden(text: str) -> str:
    r"""Replace every invisible character by `⟨U+…⟩`.

    >>> show_hidden("a\u202eb\x07")
    'a⟨U+202E⟩b⟨U+0007⟩'
    """
    return HIDDEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)
