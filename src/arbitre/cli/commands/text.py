"""`arbitre text`: ROUGE, BLEU and perplexity of single texts, and scores of the texts of a corpus."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer
from rich.text import Text

from arbitre import text as measures
from arbitre.cli.output.console import OutputOptions
from arbitre.comparator import Comparator
from arbitre.comparator.comparator import ComparatorKeywords
from arbitre.errors import DataError
from arbitre.inputs.document_sources import is_corpus, read_document, readable_records
from arbitre.language import Translator, counted
from arbitre.options import Tokenizer
from arbitre.tables.table import SCORE, Table, TableColumn, columns, count
from arbitre.tables.terminal import render
from arbitre.text.scores import KINDS
from arbitre.text.token_perplexity import logprobs_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import RenderableType

    from arbitre.signature import Signature
    from arbitre.values import Json


_INDENT: Final = "  "
"""Indentation of the windows of a document."""


def _weights(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"Expected numbers separated by commas, got {text!r}") from None


def rouge(
    *,
    candidate: str,
    references: list[str],
    kind: str,
    tokenizer: Tokenizer,
    stem: bool,
    skip: int,
    files: bool,
    output: OutputOptions,
) -> None:
    """Compute ROUGE of a candidate against the best of its references."""
    texts = _texts([candidate, *references], files=files)
    score = measures.rouge(texts[0], texts[1:], kind, tokenizer=tokenizer, stem=stem, skip=skip)
    plain = {"kind": kind} | score._asdict()
    shown = {"precision": score.precision, "recall": score.recall, "f1": score.f1}
    best = f"reference {score.reference + 1} of {len(references)}"
    output.terminal().result(lambda: plain, lambda width: _blocks(f"{kind} against {best}", shown, width))


def bleu(
    *,
    candidate: str,
    references: list[str],
    weights: str,
    tokenize: str,
    files: bool,
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
    output.terminal().result(lambda: plain, lambda width: _blocks(f"BLEU against {against}: {lengths}", shown, width))


def perplexity(
    *,
    logprobs: list[str],
    window: int | None,
    stride: int | None,
    pointer: str | None,
    id_key: str,
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


def corpus(
    *,
    gold: str,
    predicted: str,
    schema: str,
    path: str,
    kind: list[str],
    segmentation: bool,
    options: ComparatorKeywords,
    id_key: str,
    output: OutputOptions,
) -> None:
    """Compute ROUGE, BLEU and chrF of the texts at one path of a corpus, and the ordinary scores of the path."""
    comparator = Comparator(schema, **options)
    evaluation = comparator.evaluate(gold=[gold], predicted=[predicted], id_key=id_key, no_chance=True)
    scores = evaluation.segmentation(path) if segmentation else evaluation.text(path, kind or KINDS)
    f1q, signature = evaluation.by_path[path].f1q, evaluation.signature
    plain = {"path": path, "f1q": f1q} | scores.to_dict() | {"signature": signature.to_dict()}
    output.terminal().result(lambda: plain, lambda width: _corpus_blocks(plain, signature, width))


def _corpus_blocks(plain: Mapping[str, Any], signature: Signature, width: int) -> Iterator[RenderableType]:
    noun = "text" if "texts" in plain else "segmentation"
    counts = f"{plain['missing']} missing, {plain['spurious']} spurious"
    yield Text.assemble((f"{counted(plain[noun + 's'], noun)} at {plain['path']}", "bold"), f", {counts}")
    if noun == "segmentation":
        names = ("window_diff", "pk", "generalized_hamming", "f1q")
        yield render(_one_row({name: plain[name] for name in names}), width)
    else:
        heads = (TableColumn("mean"), *columns("precision", "recall", "f1", written=SCORE))
        yield render(Table.of("", heads, [(kind, *score.values()) for kind, score in plain["rouge"].items()]), width)
        rows = [(name, plain[name]["score"], plain[name]["signature"]) for name in ("bleu", "chrf")]
        rows.append(("f1q", plain["f1q"], signature.short))
        heads = (TableColumn("corpus"), TableColumn("score", SCORE), TableColumn("signature"))
        yield render(Table.of("", heads, rows), width)


def _one_row(scores: Mapping[str, float | None]) -> Table:
    """Return a table with one row of scores."""
    return Table.of("", columns(*scores, written=SCORE), [tuple(scores.values())])


def _logprobs(source: str, pointer: str | None, id_key: str) -> Iterator[tuple[tuple[str, str, int | None], Json]]:
    """Yield the name, file and line of each document of a source with its log-probabilities."""
    if pointer is None:
        yield (source, source, None), _document(source)
        return
    for record in readable_records(source, id_key):
        try:
            yield (record.id, source, record.line), logprobs_at(record.value, pointer)
        except DataError as error:
            raise error.located(file=source, line=record.line) from error


def _document(source: str) -> Json:
    """Read the log-probabilities of one document. Raises DataError if there are several, or none can be read."""
    try:
        return read_document(source)
    except DataError as error:
        if not is_corpus(source):
            raise
        raise DataError.of(
            "Expected the log-probabilities of one document, got a folder or a file of records",
            file=error.file,
            hint="With --logprobs, pass the JSON Pointer of the log-probabilities in each record, such as "
            "/choices/0/logprobs.",
        ) from error


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


def _perplexity_blocks(plain: Mapping[str, Any], width: int) -> Iterator[RenderableType]:
    yield Text(f"Perplexity {_shown(plain['perplexity'])}", style="bold")
    rows = []
    for row in plain["documents"]:
        rows.append((row["document"], row["tokens"], _shown(row["perplexity"])))
        for part in row.get("windows", ()):
            label, length = f"{_INDENT}{part['start']} to {part['stop']}", part["stop"] - part["start"]
            rows.append((label, length, _shown(part["perplexity"])))
    heads = (
        *(TableColumn("document", said=_translate_window), TableColumn("tokens", count)),
        TableColumn("perplexity", SCORE, said=Translator.text),
    )
    yield render(Table.of("", heads, rows), width)


def _translate_window(say: Translator, cell: str) -> str:
    """Translate the range of a window; keep the names of documents."""
    return say.text(cell) if cell.startswith(_INDENT) else cell


def _shown(value: float | None) -> str:
    return "infinite" if value is None else SCORE(value)


def _texts(arguments: Sequence[str], *, files: bool) -> list[str]:
    return [_text_file(name) for name in arguments] if files else list(arguments)


def _text_file(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise DataError.of(f"Cannot read the text: {reason}", file=name) from error


def _blocks(title: str, scores: Mapping[str, float], width: int) -> Iterator[RenderableType]:
    yield Text(title, style="bold")
    yield render(_one_row(scores), width)
