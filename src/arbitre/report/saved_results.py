"""Loads results from the folder that they were written to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from arbitre.corpus.reading import strict_json
from arbitre.corpus.results.archive import RESULTS, read_archive
from arbitre.corpus.storage.files import unreadable
from arbitre.corpus.systems.ranking import Ranking
from arbitre.errors import DataError
from arbitre.report.evaluation import FILES, extend

if TYPE_CHECKING:
    from typing import Any

    from arbitre.report.evaluation import Evaluation

RANKING = "ranking.json"


def load(folder: str | Path) -> Evaluation | Ranking:
    """Load the results in a folder: of `Evaluation.save` or `arbitre evaluate --out`, or of `arbitre rank --out`.

    All figures are the same to the last digit. Intervals and tests can be computed from the loaded results.

    Args:
        folder: Folder of the results.

    Returns:
        An evaluation or, if the folder contains a ranking, the ranking.

    Raises:
        DataError: The folder contains no results, or they cannot be read.
    """
    folder = Path(folder)
    if (folder / RESULTS).exists():
        found = read_archive(folder / RESULTS)
        return extend(found, folder=folder, files=tuple(name for name in FILES if (folder / name).exists()))
    if not (file := folder / RANKING).exists():
        raise DataError.of(
            f"Expected a folder with {RESULTS} or {RANKING}",
            file=str(folder),
            hint="Write the results with `save`, or with the option --out.",
        )
    try:
        plain: Any = strict_json.parse(file.read_bytes(), file=str(file))
        return Ranking.from_dict(plain)
    except OSError as error:
        raise unreadable(file, error) from error
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError.of(
            f"Expected a ranking, got {type(error).__name__}: {error}",
            file=str(file),
            hint="Rank again with this version of arbitre.",
        ) from error
