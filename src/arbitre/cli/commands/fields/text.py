"""`arbitre text`: ROUGE, BLEU and perplexity of single texts, and scores of the texts of a corpus."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from arbitre import text as measures
from arbitre.cli.option_sets import with_option_sets
from arbitre.cli.output import result_tables
from arbitre.cli.output.console import counted
from arbitre.cli.records import logprobs_at, read_records
from arbitre.cli.shared_options import IdKey, OutputOptions, Schema, SchemaOptions
from arbitre.corpus.reading.single_document import read_document
from arbitre.distances.text.rouge_scorer import SKIP, Tokenizer
from arbitre.errors import DataError
from arbitre.tables.terminal import escape_hidden
from arbitre.text.bleu_scores import WEIGHTS
from arbitre.text.corpus_scores import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import RenderableType

    from arbitre.signature import Signature
    from arbitre.values import Json

app = typer.Typer(no_args_is_help=True, help="Measure generated text: ROUGE, BLEU and perplexity.")

Candidate = Annotated[str, typer.Argument(metavar="CANDIDATE", help="The text under evaluation.")]
References = Annotated[list[str], typer.Argument(metavar="REFERENCE...", help="The reference texts.")]
Files = Annotated[bool, typer.Option("--files", help="Read CANDIDATE and REFERENCE from text files (UTF-8).")]
Logprobs = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="JSON files with log-probabilities, one document each, or - for standard input: a list of numbers, or "
        "logprobs as in answers of OpenAI's API.",
    ),
]


_SOURCE = "a folder, a .json, .jsonl, .csv or .parquet file, or a glob."
Gold = Annotated[str, typer.Argument(metavar="GOLD", help=f"Gold documents: {_SOURCE}")]
Predicted = Annotated[str, typer.Argument(metavar="PREDICTED", help=f"Predictions: {_SOURCE}")]


def _weights(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"Expected numbers separated by commas, got {text!r}") from None


@app.command()
@with_option_sets
def rouge(
    candidate: Candidate,
    references: References,
    *,
    kind: Annotated[
        str, typer.Option(metavar="KIND", help="rouge1 to rouge9, rougeL, rougeLsum or rougeS.")
    ] = "rouge1",
    tokenizer: Annotated[
        Tokenizer, typer.Option(help="Words of any script, or the ASCII words of rouge-score.")
    ] = "words",
    stem: Annotated[bool, typer.Option("--stem", help="Stem English words; requires --tokenizer rouge-score.")] = False,
    skip: Annotated[
        int, typer.Option(metavar="N", help="Maximum number of words within a skip-bigram of rougeS.")
    ] = SKIP,
    files: Files = False,
    output: OutputOptions,
) -> None:
    """Compute ROUGE of a candidate against the best of its references."""
    texts = _texts([candidate, *references], files=files)
    score = measures.rouge(texts[0], texts[1:], kind, tokenizer=tokenizer, stem=stem, skip=skip)
    plain = {"kind": kind} | score._asdict()
    shown = {"precision": score.precision, "recall": score.recall, "f1": score.f1}
    best = f"reference {score.reference + 1} of {len(references)}"
    output.terminal().result(lambda: plain, lambda _: _blocks(f"{kind} against {best}", shown))


@app.command()
@with_option_sets
def bleu(
    candidate: Candidate,
    references: References,
    *,
    weights: Annotated[
        str, typer.Option(metavar="W,W,...", help="Weights of the n-grams of length 1, 2, ..., with sum 1.")
    ] = ",".join(map(str, WEIGHTS)),
    tokenize: Annotated[
        str,
        typer.Option(metavar="NAME", help="sacrebleu's tokenizer: 13a, intl, char, zh, or none to split at spaces."),
    ] = "13a",
    files: Files = False,
    output: OutputOptions,
) -> None:
    """Compute BLEU of a candidate, without smoothing, from all its references."""
    texts = _texts([candidate, *references], files=files)
    score = measures.bleu_details(texts[0], texts[1:], _weights(weights), tokenize=tokenize)
    plain = score._asdict() | {"precisions": list(score.precisions)}
    shown = {"bleu": score.bleu} | {f"precision {n}": value for n, value in enumerate(score.precisions, 1)}
    shown["brevity penalty"] = score.brevity_penalty
    against = counted(len(references), "reference")
    lengths = f"{counted(score.length, 'token')}, {score.reference_length} in the reference"
    output.terminal().result(lambda: plain, lambda _: _blocks(f"BLEU against {against}: {lengths}", shown))


@app.command()
@with_option_sets
def perplexity(
    logprobs: Logprobs,
    *,
    window: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Also list the perplexity of windows of N tokens.")
    ] = None,
    stride: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Tokens between the starts of two windows. Default: --window."),
    ] = None,
    pointer: Annotated[
        str | None,
        typer.Option(
            "--logprobs",
            metavar="POINTER",
            help="Read records, with the log-probabilities at this JSON Pointer.",
        ),
    ] = None,
    id_key: IdKey = "id",
    output: OutputOptions,
) -> None:
    """Compute the perplexity of documents, and of all their tokens, from the log-probabilities of the tokens."""
    if stride is not None and window is None:
        raise typer.BadParameter("--stride requires --window.")
    given = [(place, values) for source in logprobs for place, values in _logprobs(source, pointer, id_key)]
    rows = [_measured(place, values, window, stride) for place, values in given]
    whole = measures.corpus_perplexity([values for _, values in given])
    plain = {"perplexity": _finite(whole), "documents": rows}
    output.terminal().result(lambda: plain, partial(_perplexity_blocks, plain))


@app.command()
@with_option_sets
def corpus(
    gold: Gold,
    predicted: Predicted,
    *,
    schema: Schema,
    path: Annotated[str, typer.Option(metavar="PATH", help="Wildcard path of the texts, such as /summary.")],
    kind: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="Kind of ROUGE. May be repeated. Default: 1, 2, L, Lsum."),
    ] = None,
    segmentation: Annotated[
        bool, typer.Option("--segmentation", help="Compare segmentations instead of texts: WindowDiff, Pk and others.")
    ] = False,
    options: SchemaOptions,
    id_key: IdKey = "id",
    output: OutputOptions,
) -> None:
    """Compute ROUGE, BLEU and chrF of the texts at one path of a corpus, and the ordinary scores of the path."""
    comparator = options.comparator(schema)
    evaluation = comparator.evaluate(gold=[gold], predicted=[predicted], id_key=id_key, no_chance=True)
    scores = evaluation.segmentation(path) if segmentation else evaluation.text(path, kind or KINDS)
    f1q, signature = evaluation.by_path[path].f1q, evaluation.signature
    plain = {"path": path, "f1q": f1q} | scores.to_dict() | {"signature": signature.to_dict()}
    output.terminal().result(lambda: plain, lambda _: _corpus_blocks(plain, signature))


def _corpus_blocks(plain: Mapping[str, Any], signature: Signature) -> Iterator[RenderableType]:
    noun = "text" if "texts" in plain else "segmentation"
    counts = f"{plain['missing']} missing, {plain['spurious']} spurious"
    yield Text.assemble((f"{counted(plain[noun + 's'], noun)} at {plain['path']}", "bold"), f", {counts}")
    if noun == "segmentation":
        names = ("window_diff", "pk", "generalized_hamming", "f1q")
        grid = result_tables.table(*names, left=0)
        grid.add_row(*(result_tables.number(plain[name]) for name in names))
        yield grid
    else:
        rouge = result_tables.table("mean", "precision", "recall", "f1")
        for kind, score in plain["rouge"].items():
            rouge.add_row(kind, *map(result_tables.number, score.values()))
        yield rouge
        grid = result_tables.table("corpus", "score", left=1)
        grid.add_column("signature", overflow="fold")
        for name in ("bleu", "chrf"):
            grid.add_row(name, result_tables.number(plain[name]["score"]), plain[name]["signature"])
        grid.add_row("f1q", result_tables.number(plain["f1q"]), signature.short)
        yield grid


def _logprobs(source: str, pointer: str | None, id_key: str) -> Iterator[tuple[tuple[str, str, int | None], Json]]:
    """Yield the name, file and line of each document of a source with its log-probabilities."""
    if pointer is None:
        yield (source, source, None), read_document(source)
        return
    for record in read_records(source, id_key):
        try:
            yield (record.id, source, record.line), logprobs_at(record.value, pointer)
        except DataError as error:
            raise error.located(file=source, line=record.line) from error


def _measured(
    place: tuple[str, str, int | None], values: Json, window: int | None, stride: int | None
) -> dict[str, Any]:
    """Return the results of a document, given its name, file and line."""
    name, file, line = place
    try:
        row = {"document": name, "tokens": len(measures.read_logprobs(values))}
        row["perplexity"] = _finite(measures.perplexity(values))
        if window is not None:
            profile = measures.rolling_perplexity(values, window, stride)
            row["windows"] = [part._asdict() | {"perplexity": _finite(part.perplexity)} for part in profile]
    except DataError as error:
        raise error.located(file=file, line=line) from error
    return row


def _finite(value: float) -> float | None:
    """Return a perplexity, or None if it is infinite, for which JSON has no number."""
    return value if math.isfinite(value) else None


def _perplexity_blocks(plain: Mapping[str, Any], _width: int) -> Iterator[RenderableType]:
    yield Text(f"Perplexity {_shown(plain['perplexity'])}", style="bold")
    grid = result_tables.table("document", "tokens", "perplexity")
    for row in plain["documents"]:
        grid.add_row(escape_hidden(row["document"]), str(row["tokens"]), _shown(row["perplexity"]))
        for part in row.get("windows", ()):
            label, length = f"  {part['start']} to {part['stop']}", part["stop"] - part["start"]
            grid.add_row(label, str(length), _shown(part["perplexity"]))
    yield grid


def _shown(value: float | None) -> str:
    return "infinite" if value is None else f"{value:.4f}"


def _texts(arguments: Sequence[str], *, files: bool) -> list[str]:
    return [_text_file(name) for name in arguments] if files else list(arguments)


def _text_file(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise DataError.of(f"Cannot read the text: {reason}", file=name) from error


def _blocks(title: str, scores: Mapping[str, float]) -> Iterator[RenderableType]:
    yield Text(title, style="bold")
    grid = result_tables.table(*scores, left=0)
    grid.add_row(*map(result_tables.number, scores.values()))
    yield grid
