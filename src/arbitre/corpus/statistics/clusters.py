"""Clusters: documents that are resampled together, such as one page read by three OCR engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import regex

from arbitre.errors import DataError, OptionError
from arbitre.values import PATTERN_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable

Cluster: TypeAlias = str | Mapping[str, str] | Sequence[str] | None
"""Regular expression searched in ids, label by id, or label for every document in order; None clusters by id."""


def cluster_labels(ids: Sequence[str], cluster: Cluster) -> list[str] | None:
    r"""Return the cluster label of every document; None without clusters. Raises DataError if a document has none.

    >>> cluster_labels(["page_02", "page_03"], r"\d+"), cluster_labels(["a", "b"], {"a": "x", "b": "x"})
    (['02', '03'], ['x', 'x'])
    """
    if cluster is None:
        return None
    if isinstance(cluster, str):
        return list(_matched_labels(ids, cluster))
    if isinstance(cluster, Mapping):
        missing = [identity for identity in ids if identity not in cluster]
        if missing:
            raise DataError.of(f"Expected a cluster for every id, got no cluster for {missing[0]!r}")
        return [cluster[identity] for identity in ids]
    if len(cluster) != len(ids):
        raise DataError.of(f"Expected one cluster per document ({len(ids)}), got {len(cluster)}")
    return list(cluster)


def assign_clusters(ids: Sequence[str], cluster: Cluster) -> tuple[list[str] | None, bool]:
    """Return the cluster label of every document, and whether the clusters are the runs of one document.

    Without `cluster`, documents with the same id form a cluster. If all ids are unique, there are no labels (None).

    >>> assign_clusters(["a", "a", "b"], None), assign_clusters(["a", "b"], None)
    ((['a', 'a', 'b'], True), (None, False))
    """
    if cluster is None and len(set(ids)) < len(ids):
        return list(ids), True
    return cluster_labels(ids, cluster), False


def _matched_labels(ids: Iterable[str], pattern: str) -> Iterable[str]:
    try:
        compiled = regex.compile(pattern)
    except regex.error as error:
        raise OptionError.of(
            f"Expected the cluster pattern to be a regular expression, got {pattern!r}: {error}",
            hint=r"Example: 'page_\d+'.",
        ) from error
    for identity in ids:
        try:
            match = compiled.search(identity, timeout=PATTERN_SECONDS)
        except TimeoutError as error:
            raise DataError.of(
                f"The cluster pattern {pattern!r} took more than {PATTERN_SECONDS:g} s on the id {identity!r}"
            ) from error
        if match is None:
            raise DataError.of(
                f"Expected the id to match the cluster pattern {pattern!r}, got {identity!r}",
                hint="The pattern must match every id.",
            )
        yield match[1] if compiled.groups else match[0]
