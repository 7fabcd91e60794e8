"""The declarations of the commands that correct, check or perturb gold."""

from __future__ import annotations

from pathlib import Path

from arbitre.options import (
    FORCE,
    ID_KEY,
    REQUIRED,
    SHOWN_LANG,
    Annotations,
    LanguageName,
    Output,
    Reading,
    Terminal,
    Thresholds,
    argument,
    option,
)


class Perturb(Terminal):
    """Plant faults in copies of gold documents, to see how the scores react.

    Writes one record per line for `arbitre evaluate --pairs`: the id, the gold document, the copy as the prediction,
    and the planted faults.
    """

    gold: list[str] = argument("GOLD...", "Gold documents: folders, .json or .jsonl files, globs, or - for stdin.")
    rates: list[str] = option(
        (),
        "Share of the entries that receive a fault of the given kind, as KIND=RATE. The kinds are split, merge, move, "
        "swap, duplicate, drop, invent, noise and rename. For rename, RATE is the share of the fields that are "
        "renamed. May be repeated. Default: 0.05 for every kind except rename.",
        "KIND=RATE",
        flags=("--rate",),
        parser="arbitre.cli.commands.perturb:parse_rate",
    )
    at: str | None = option(None, "Plant faults only in the list at this wildcard path.", "PATH")
    seed: int = option(0, "Random seed.", "N", least=0)
    out: Path | None = option(None, "File for the pairs (.jsonl). Default: standard output.", "FILE")
    id_key: str = ID_KEY
    force: bool = FORCE


class GoldApply(Output):
    """Correct gold according to the decisions that people made in a report.

    Writes a copy in which only the corrected values differ, and its sidecar, which states who corrected how many
    values. Decisions that cannot be applied are written to a table beside it, with the reason; the exit code is then 1.
    """

    decisions: str = argument("DECISIONS", "Decisions exported from the report (.csv or .json).")
    gold: str = option(
        REQUIRED, "The gold that was evaluated: a folder of .json files, or a .json or .jsonl file.", "PATH"
    )
    out: Path = option(REQUIRED, "New folder or file for the corrected gold, in the same format as --gold.", "PATH")
    schema: str | None = option(
        None,
        "JSON Schema of the documents, as JSON or YAML, or a Python type as MODULE:NAME. Decisions whose values "
        "violate the schema are refused.",
        "FILE",
        keyword="SchemaSource | None",
    )
    allow_refs: list[str] = Annotations.allow_refs
    id_key: str = ID_KEY
    id_pattern: str | None = Reading.id_pattern
    normalize_ids: bool = Reading.normalize_ids
    gold_key: str = Reading.gold_key
    force: bool = FORCE


class Advise(Annotations, Thresholds, Output):
    """Check the classes of training and test data: what to add, balance or merge."""

    train: list[str] = option(
        REQUIRED,
        "Training documents: a folder, a file or a glob; without --path, a file of entities. May be repeated.",
        "PATH",
    )
    path: str | None = option(
        None,
        "Wildcard path of the labels, such as /places/*/type. Without this option, the files contain entities (CoNLL, "
        ".json or .jsonl), as for `arbitre entities`.",
        "PATH",
    )
    test: list[str] | None = option(
        None,
        "Gold documents of the test data, in the same form as --train. May be repeated.",
        "PATH",
    )
    predicted: list[str] | None = option(
        None,
        "Predictions for the test documents, used to find classes that are often confused.",
        "PATH",
        more="Requires `--test` and, with `--path`, `--schema`. May be repeated.",
    )
    schema: str | None = option(
        None, "JSON Schema of the documents, used to compare the predictions given with --predicted.", "FILE"
    )
    seed: int = option(0, "Random seed of the permutation test.", "N", least=0)
    id_key: str = ID_KEY
    lang: LanguageName = SHOWN_LANG
