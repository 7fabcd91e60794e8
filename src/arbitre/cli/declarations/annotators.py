"""The declarations of the commands that compare annotators, and build gold from their documents."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from arbitre.options import (
    FORCE,
    SHOWN_LANG,
    AnnotationFiles,
    Annotations,
    AutomaticStrategy,
    Comparison,
    LanguageName,
    Notation,
    Output,
    Reading,
    Strategy,
    argument,
    option,
    switch,
)

ANNOTATORS: Final = argument("NAME=PATH...", "Documents of each annotator. Repeat a name for several files.")
ANNOTATED_SCHEMA: Final = option(
    None,
    "JSON Schema of the documents, with x-arbitre settings, as JSON or YAML, or a Python type as MODULE:NAME. "
    "Required, except for files of annotation tools.",
    "FILE",
    group="Input",
)
WEAK_MARGIN: Final = option(
    0.25,
    "Flag a majority as weak if its lead over the next value is less than this share of the votes.",
    "SHARE",
    least=0.0,
    most=1.0,
)


class Agree(Annotations, Comparison, Reading, AnnotationFiles, Output):
    """Measure how well annotators agree beyond chance, on whole documents and by path.

    The annotators are people, or several runs of models. Their documents are joined by id and aligned at every level.
    """

    annotators: list[str] = argument(
        "NAME=PATH...",
        "Documents of each annotator. Repeat a name for several files. Or one table of ratings: a .csv or .tsv file "
        "with a row for each item and a column for each annotator. Or a file of an annotation tool with all "
        "annotators.",
    )
    schema: str | None = option(
        None,
        "JSON Schema of the documents, with x-arbitre settings, as JSON or YAML, or a Python type as MODULE:NAME. "
        "For a table of ratings, the schema of one rating; by default, ratings are unordered categories. "
        "Not required for files of annotation tools.",
        "FILE",
    )
    difference: Literal["d", "d2"] = option(
        "d",
        "Difference between two values in Krippendorff's alpha: their distance (d), or its square (d2), which is "
        "common for interval data.",
        rare=True,
    )
    level: float = option(0.95, "Confidence level of the intervals.", "SHARE", rare=True)
    seed: int = option(
        0,
        "Random seed of the bootstrap, and of the samples that estimate the expected disagreement.",
        "N",
        least=0,
        rare=True,
    )
    suggest_category_distances: bool = switch(
        "Print an overlay that sets distances between categories that annotators exchange more often than expected by "
        "chance.",
        more="The evidence goes to standard error; see [distances between "
        "categories](agreement.md#distances-between-categories).",
        rare=True,
    )
    lang: LanguageName = SHOWN_LANG


class Gamma(AnnotationFiles, Output):
    """Measure how well annotators agree beyond chance on spans of text that they located themselves.

    Records with an id are documents, and are joined by id. Without ids, sentences are joined by position, and the
    sentences of a CoNLL file form one document.
    """

    annotators: list[str] = argument(
        "NAME=PATH...",
        "Spans of each annotator: a CoNLL, .json or .jsonl file, or one of an annotation tool. Repeat a name for "
        "several files. Or a file of an annotation tool with all annotators.",
    )
    alpha: float = option(1.0, "Weight of the difference in position.", "WEIGHT", rare=True)
    beta: float = option(1.0, "Weight of the difference in label.", "WEIGHT", rare=True)
    unmatched: float = option(
        1.0,
        "Dissimilarity of a missing span (delta empty). It scales all disorders and does not change gamma.",
        "DELTA",
        rare=True,
    )
    precision: float = option(
        0.02, "Maximum relative error of the expected disorder, at 95% confidence.", "SHARE", rare=True
    )
    samples: int = option(30, "Minimum number of random annotations of each document.", "N", rare=True)
    seed: int = option(0, "Random seed of the random annotations.", "N", least=0, rare=True)
    tags: Notation = option("auto", "Notation of the tags; auto infers it from each file.")
    lenient_tags: bool = switch(
        "Like conlleval, accept tags that do not follow the notation.",
        former=("--lenient",),
        rare=True,
    )
    column: list[str] = option(
        (),
        "Column that contains the tags in CoNLL files, counted from 0; -1 is the last column. NAME=N sets the column "
        "for one annotator. May be repeated.",
        "[NAME=]N",
        more="Default: `-1`.",
        rare=True,
    )
    lang: LanguageName = SHOWN_LANG


class Consensus(Annotations, Comparison, Reading, AnnotationFiles, Output):
    """Build gold documents from the documents of several annotators.

    The documents are joined by id and aligned at every level. Ties and weak majorities are flagged.
    """

    annotators: list[str] = ANNOTATORS
    schema: str | None = ANNOTATED_SCHEMA
    strategy: Strategy = option(
        "minimum-risk",
        "Which values to keep: those with the best expected score (minimum-risk), those of most (majority) or "
        "all annotators (unanimity), those that people choose (collegial), or categories estimated from the error "
        "rates of annotators (dawid-skene).",
    )
    weak_margin: float = WEAK_MARGIN
    min_annotators: int = option(
        2, "Minimum number of annotators per document; documents with fewer are left out.", "N", least=1, rare=True
    )
    queue: Path | None = option(
        None,
        "File for the disagreements (.jsonl, .csv, or .html for a page on which people decide on them), or a folder "
        "for all three.",
        "PATH",
    )
    source: Path | None = option(
        None,
        "Folder of the sources that the page of disagreements shows: one text (<id>.txt) or image (<id>.png) per "
        "document. Requires --queue.",
        "DIR",
    )
    decisions: Path | None = option(
        None,
        "Decisions exported from the page of disagreements, or queue.csv with the decisions filled in. Requires "
        "--strategy collegial.",
        "FILE",
        rare=True,
    )
    lang: LanguageName = option("en", "Language of the page of disagreements, and of text and Markdown output.")
    systems: list[str] = option(
        (),
        "Predictions of a system, which is scored separately on unanimous and on contested values. May be repeated.",
        "NAME=PATH",
        flags=("--system",),
    )
    out: Path | None = option(
        None,
        "File (.jsonl) or folder for the gold documents. The sidecar is written next to this file or folder.",
        "PATH",
    )
    force: bool = FORCE


class LeaveOneOut(Annotations, Comparison, Reading, AnnotationFiles, Output):
    """Compare each annotator, and systems, with the consensus of the other annotators.

    The results are agreement with an unvalidated consensus, not performance.
    """

    annotators: list[str] = ANNOTATORS
    schema: str | None = ANNOTATED_SCHEMA
    systems: list[str] = option(
        (),
        "Predictions of a system, which are compared with each of the consensuses. May be repeated.",
        "NAME=PATH",
        flags=("--system",),
    )
    strategy: AutomaticStrategy = option(
        "minimum-risk", "How to combine the annotations of the other annotators, as in `arbitre consensus`."
    )
    weak_margin: float = WEAK_MARGIN
    lang: LanguageName = SHOWN_LANG
