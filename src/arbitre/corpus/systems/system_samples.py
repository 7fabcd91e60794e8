"""The documents of systems as samples for intervals and paired tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arbitre.corpus.reading.document_ids import quote_names
from arbitre.corpus.statistics import Sample
from arbitre.corpus.statistics.clusters import assign_clusters
from arbitre.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping

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


def check_runs(systems: Mapping[str, Evaluation], samples: Mapping[str, Sample]) -> None:
    """Raise DataError if the systems have the same documents, but different runs of them."""
    tables = {name: evaluation.document_table for name, evaluation in systems.items()}
    if len({frozenset(sample.keys) for sample in samples.values()}) == 1:
        return
    if len({frozenset(table.ids) for table in tables.values()}) > 1:
        return  # the paired tests refuse different documents
    runs = {name: sorted({run for run in table.runs if run is not None}) for name, table in tables.items()}
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
