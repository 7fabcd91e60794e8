"""What came of a corpus: tallies of every document in columns, and every score a function of their sums."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.comparison.notebook import scores_html
from arbitre.corpus.clusters import grouped
from arbitre.corpus.quality import DocumentQuality
from arbitre.corpus.records import key
from arbitre.corpus.statistics import Sample, interval, means
from arbitre.corpus.statistics.resampling import LEVEL, METHOD
from arbitre.corpus.sums import total
from arbitre.corpus.texts import Lazy
from arbitre.errors import DataError, did_you_mean
from arbitre.paths import outside
from arbitre.tally import MacroScores, Scores, Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.corpus.chance import Chance
    from arbitre.corpus.clusters import Cluster
    from arbitre.corpus.records import Failure
    from arbitre.corpus.statistics import Average, Interval, Method
    from arbitre.curve import Curve
    from arbitre.signature import Signature

FORMAT: Final = "arbitre-evaluation/1"
THRESHOLDS: Final = (0.5, 0.7, 0.9)
"""The survival curve is printed at these qualities."""


@dataclass(frozen=True, slots=True)
class Document:
    """What came of one document: the tally of its entries, the quality of its root (0 where it failed)."""

    id: str
    run: str | None
    key: str
    tally: Tally
    quality: float
    failed: bool

    @property
    def scores(self) -> Scores:
        return Scores(self.tally)


@dataclass(frozen=True, eq=False, slots=True)
class Columns(Lazy[Document]):
    """The documents of a corpus, in the order they came in: a row each, a Document when it is asked for.

    `tallies` (documents, 5) are those of their entries, `paths` (documents, 5) of every wildcard path, in document
    order; a tally is gold, predicted, matched, quality and quality_sq. `qualities` (documents,) are those of the roots.
    """

    ids: Lazy[str]
    runs: Sequence[str | None]
    tallies: Floats
    qualities: Floats
    failed: Mask
    paths: Mapping[str, Floats]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def keys(self) -> Iterator[str]:
        """What names each document in results."""
        return map(key, self.ids, self.runs)

    @property
    def tally(self) -> Tally:
        """The sum of the tallies of the entries."""
        return summed(self.tallies)

    def by_path(self, rows: Indices | None = None) -> dict[str, Scores]:
        """The scores of every path with leaves and of the items of every list, over these documents (n,) or all."""
        chosen = slice(None) if rows is None else rows
        return {path: Scores(summed(held[chosen])) for path, held in self.paths.items()}

    def at(self, rows: npt.ArrayLike) -> Iterator[Document]:
        """The documents in these rows (n,)."""
        numbers = np.asarray(rows, dtype=np.intp)
        numeric = (self.tallies[numbers].tolist(), self.qualities[numbers].tolist(), self.failed[numbers].tolist())
        made = zip(self.ids.at(numbers), map(self.runs.__getitem__, numbers), *numeric, strict=True)
        for identity, run, tally, quality, failed in made:
            yield Document(identity, run, key(identity, run), Tally(*tally), quality, failed)


@dataclass(frozen=True, slots=True)
class Coverage:
    """The wildcard paths of a schema that gold documents hold, and those that none of them does."""

    exercised: tuple[str, ...]
    never: tuple[str, ...]

    @property
    def share(self) -> float:
        """The share of the paths that gold holds, in [0, 1]; 1 where the schema names none."""
        whole = len(self.exercised) + len(self.never)
        return len(self.exercised) / whole if whole else 1.0


def summed(rows: Floats) -> Tally:
    """The sum of tallies (n, 5), every part of it correctly rounded (see `Tally.sum`)."""
    return Tally(*map(total, rows.T))


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The results of a corpus.

    `columns` hold its documents in the order they came in; `failures` lists every prediction (or gold) that could not
    be used, and counts as an empty prediction in the sums and as 0 in the means; `without_gold` names predictions
    nobody asked for.
    """

    signature: Signature
    entries: str
    columns: Columns
    leaves: Scores
    """The scores over all leaves of all documents."""
    curve: Curve
    failures: tuple[Failure, ...] = ()
    without_gold: tuple[str, ...] = ()
    clusters: tuple[str, ...] | None = None
    """The cluster of every document, where intervals draw these together."""
    declared: tuple[str, ...] = ()
    """The paths that the schema names."""
    told: Callable[[], Chance] | None = field(default=None, repr=False)
    """What chance alone scores, worked out when it is asked for."""

    @cached_property
    def chance(self) -> Chance | None:
        """What chance alone scores on these documents; None where they are no longer known."""
        return None if self.told is None else self.told()

    @cached_property
    def trust(self) -> dict[str, Any]:
        """How far the scores can be trusted, as plain JSON: intervals, chance, coverage."""
        from arbitre.corpus.trust import trust  # noqa: PLC0415

        return trust(self)

    @property
    def chance_floor(self) -> Scores | None:
        """The scores of predictions matched with other documents' gold; None where there is no other document."""
        return None if self.chance is None else self.chance.floor

    @property
    def gold_self_agreement(self) -> float | None:
        """The mean quality of two different entries of one gold document, in [0, 1]; None if none has two."""
        return None if self.chance is None else self.chance.self_agreement

    @property
    def unscored(self) -> int:
        """How many failures are of no document: gold that cannot be had, and what stands there twice."""
        return len(self.failures) - int(self.columns.failed.sum())

    @property
    def documents(self) -> Sequence[Document]:
        """What came of every document, made of `columns` when it is asked for."""
        return self.columns

    @cached_property
    def micro(self) -> Scores:
        """The scores of the entries of all documents together."""
        return Scores(self.columns.tally)

    @cached_property
    def macro(self) -> MacroScores:
        """The means of the documents' scores of their entries; a failed document is 0 in each."""
        return means(self.columns.tallies, self.columns.failed)

    @cached_property
    def by_path(self) -> dict[str, Scores]:
        """The scores of every path with leaves and of the items of every list, over all documents."""
        return self.columns.by_path()

    @cached_property
    def outside(self) -> dict[str, Scores]:
        """The scores of the paths outside the entries, which `micro` and `macro` leave out.

        Empty where the root is the entries.
        """
        return {path: self.by_path[path] for path in outside(self.by_path, self.entries)}

    @property
    def document_quality(self) -> DocumentQuality:
        """The quality of whole documents: `.mean`, `.median`, and `.at_least(q)`, the share of documents that reach q.

        A failed document counts as 0.
        """
        return DocumentQuality(self.columns.qualities)

    @cached_property
    def coverage(self) -> Coverage:
        """What of the schema the gold documents exercise, and what they never do: of that, no score says anything."""
        held = [path for path, scores in self.by_path.items() if scores.gold > 0.0]
        never = [path for path in self.declared if path and not any(f"{one}/".startswith(f"{path}/") for one in held)]
        return Coverage(tuple(path for path in self.declared if path not in never), tuple(never))

    @property
    def by_document(self) -> dict[str, Scores]:
        """The scores of every document's entries, by id (and run, where there are several)."""
        return {document.key: document.scores for document in self.columns}

    def interval(
        self,
        score: str,
        *,
        level: float = LEVEL,
        method: Method = METHOD,
        cluster: Cluster = None,
        aggregate: Average = "macro",
        seed: int = 0,
        path: str | None = None,
    ) -> Interval:
        """The confidence interval of a score, for corpora of documents like these.

        Args:
            score: The score, one of `arbitre.tally.NAMES`.
            level: Confidence level.
            method: `adjusted-t`, `t`, `percentile` or `bca` (see `arbitre.corpus.statistics.Method`).
            cluster: Which documents belong together: a regular expression found in their ids (its first group, or all
                of it), a label for every id, or one for every document in order. By default `clusters`; without these,
                the runs of one document are one cluster.
            aggregate: macro or micro.
            seed: Random seed of the bootstrap.
            path: The path of the score; the entries by default.

        Raises:
            DataError: An option is not one of its values, or a document has no cluster.
        """
        sample = self.sample(cluster=cluster, path=path)
        return interval(sample, score, average=aggregate, level=level, method=method, seed=seed)

    def sample(self, *, cluster: Cluster = None, path: str | None = None) -> Sample:
        """The documents as the statistics take them (see `interval`). Raises DataError."""
        columns = self.columns
        if path is not None and path not in columns.paths:
            raise DataError.of(
                f"Expected a path of this evaluation, got {path!r}", hint=did_you_mean(path, columns.paths)
            )
        tallies = columns.tallies if path is None else columns.paths[path]
        clusters, runs = grouped(columns.ids, self.clusters if cluster is None else cluster)
        return Sample.of(columns.keys, tallies, columns.failed, clusters, runs=runs)

    def to_arrow(self) -> Any:  # noqa: ANN401  (pyarrow is not always there)
        """The documents as a `pyarrow.Table`: labels, quality, counts and scores of the entries, a row each.

        `.to_pandas()` makes a data frame of it, `polars.from_arrow` another. Raises ArbitreError without pyarrow.
        """
        from arbitre.corpus import arrow, frames  # noqa: PLC0415

        return arrow.table(frames.documents(self))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON, valid against `schemas/evaluation.schema.json`; the same corpus gives the same bytes."""
        macro = self.macro
        return {
            "format": FORMAT,
            "signature": self.signature.to_dict(),
            "entries": self.entries,
            "documents": len(self.columns),
            "failed": macro.failed,
            "vacuous": macro.vacuous,
            "micro": self.micro.to_dict(),
            "macro": macro.to_dict(),
            "macro_documents": dict(macro.documents),
            "document_quality": self.document_quality.to_dict(),
            "leaves": self.leaves.to_dict(),
            "outside": {path: scores.to_dict() for path, scores in self.outside.items()},
            "by_path": {path: scores.to_dict() for path, scores in self.by_path.items()},
            "curve": self.curve.to_dict(),
            "thresholds": [_point(self.curve, threshold) for threshold in THRESHOLDS],
            "failures": [asdict(failure) for failure in self.failures],
            "without_gold": list(self.without_gold),
            "trust": self.trust,
        }

    def _repr_html_(self) -> str:
        columns: dict[str, Scores | MacroScores] = {
            "Pooled (micro)": self.micro,
            "Per-document mean (macro)": self.macro,
            "Leaves, pooled (micro)": self.leaves,
        }
        mean = self.document_quality.mean
        quality = "" if mean is None else f", document quality {mean:.4f} (mean)"
        title = f"{len(self.columns)} documents, {self.macro.failed} failed{quality}"
        return scores_html(title, columns, self.by_path, self.signature)

    def __repr__(self) -> str:
        f1q = self.micro.f1q
        return f"Evaluation({len(self.columns)} documents, micro f1q={'none' if f1q is None else f'{f1q:.4f}'})"


def _point(curve: Curve, threshold: float) -> dict[str, float | None]:
    point = curve.at(threshold)
    return {name: getattr(point, name) for name in ("threshold", "precision", "recall", "f1", "pq")}
