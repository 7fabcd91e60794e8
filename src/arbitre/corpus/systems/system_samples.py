"""The documents of systems as samples for intervals and paired tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arbitre.corpus.reading.document_ids import quote_names
from arbitre.corpus.statistics import Sample
from arbitre.corpus.statistics.clusters import assign_clusters
from arbitre.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from arbitre.corpus.results.evaluation import Evaluation
    from arbitre.corpus.statistics.clusters import Cluster


def sample_documents(evaluation: Evaluation, cluster: Cluster) -> Sample:
    """Return the documents as a sample.

    Keys are ids if each document has one prediction. Otherwise keys are ids with runs, and by default the runs of one
    document form a cluster.
    """
    columns = evaluation.document_table
    clusters, runs = assign_clusters(columns.ids, evaluation.clusters if cluster is None else cluster)
    keys = columns.ids if len(set(columns.ids)) == len(columns.ids) else columns.keys
    return Sample.of(keys, columns.tallies, columns.failed, clusters, runs=runs)


def check_runs(systems: Mapping[str, Iterable[tuple[str, str | None]]]) -> None:
    """Check that systems with the same documents have the same runs of them.

    Args:
        systems: Ids and runs of the predictions of each system.

    Raises:
        DataError: The documents are the same, but not their runs.
    """
    known = {name: list(labels) for name, labels in systems.items()}
    ids = {name: frozenset(identity for identity, _ in labels) for name, labels in known.items()}
    if len(set(ids.values())) > 1:
        return  # the paired tests refuse different documents
    several = {name: len(ids[name]) < len(labels) for name, labels in known.items()}
    if len({frozenset(labels) if several[name] else ids[name] for name, labels in known.items()}) == 1:
        return
    runs = {name: sorted({run for _, run in labels if run is not None}) for name, labels in known.items()}
    if len({tuple(names) for names in runs.values()}) == 1:
        return
    named = (
        f"{name} has {f'the runs {quote_names(names)}' if names[1:] else 'one run'}" for name, names in runs.items()
    )
    raise DataError.of(
        f"Expected all systems to have the same runs of each document, got different ones: {'; '.join(named)}",
        hint="Rank each run as a system of its own, with one file per run (NAME-1=FILE NAME-2=FILE), or give every "
        "system the same runs under `run`.",
    )
