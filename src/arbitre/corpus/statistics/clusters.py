"""Which documents of a corpus belong together: the same page under three OCRs is one cluster, not three documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import regex

from arbitre.errors import DataError
from arbitre.values import PATTERN_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable

Cluster: TypeAlias = str | Mapping[str, str] | Sequence[str] | None
"""A regular expression on ids, a label for every id, or a label for every document in order; None: by id."""


def cluster_labels(ids: Sequence[str], cluster: Cluster) -> list[str] | None:
    r"""The label of every document's cluster. Raises DataError where a document has none.

    >>> cluster_labels(["page_02", "page_03"], r"\d+"), cluster_labels(["a", "b"], {"a": "x", "b": "x"})
    (['02', '03'], ['x', 'x'])
    """
    if cluster is None:
        return None
    if isinstance(cluster, str):
        return list(_found(ids, cluster))
    if isinstance(cluster, Mapping):
        missing = [one for one in ids if one not in cluster]
        if missing:
            raise DataError.of(f"Expected a cluster for every id, got none for {missing[0]!r}")
        return [cluster[one] for one in ids]
    if len(cluster) != len(ids):
        raise DataError.of(f"Expected a cluster for each of {len(ids)} documents, got {len(cluster)}")
    return list(cluster)


def grouped(ids: Sequence[str], cluster: Cluster) -> tuple[list[str] | None, bool]:
    """The label of every document's cluster, and whether the clusters are the runs of one document.

    Without a `cluster`, documents that share an id are one cluster; None where every document stands alone.

    >>> grouped(["a", "a", "b"], None), grouped(["a", "b"], None)
    ((['a', 'a', 'b'], True), (None, False))
    """
    if cluster is None and len(set(ids)) < len(ids):
        return list(ids), True
    return cluster_labels(ids, cluster), False


def _found(ids: Iterable[str], pattern: str) -> Iterable[str]:
    try:
        compiled = regex.compile(pattern)
    except regex.error as error:
        raise DataError.of(
            f"Expected the clusters to be a regular expression, got {pattern!r}: {error}", hint=r"As in 'page_\d+'."
        ) from error
    for one in ids:
        try:
            match = compiled.search(one, timeout=PATTERN_SECONDS)
        except TimeoutError as error:
            raise DataError.of(
                f"The pattern {pattern!r} takes more than {PATTERN_SECONDS:g} s on the id {one!r}"
            ) from error
        if match is None:
            raise DataError.of(
                f"Expected the id to match the pattern of the clusters {pattern!r}, got {one!r}",
                hint="Let the pattern match every id.",
            )
        yield match[1] if compiled.groups else match[0]
