"""`arbitre perturb`: plant faults into copies of gold documents."""

from __future__ import annotations

import json
import sys
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from arbitre.cli.commands.schema import read_documents
from arbitre.cli.output.console import counted
from arbitre.cli.shared_options import IdKey, TerminalOptions
from arbitre.corpus.reading.sources import expand_globs
from arbitre.diagnosis.perturbation import RATES, FaultKind
from arbitre.diagnosis.perturbation import perturb as perturbed
from arbitre.report.text_files import atomic_text_file


class Rate(NamedTuple):
    """A kind of fault and its rate."""

    kind: str
    rate: float


def parse_rate(text: str) -> Rate:
    """Parse KIND=RATE. Raises typer.BadParameter."""
    kind, sign, rate = text.partition("=")
    try:
        return Rate(kind, float(rate))
    except ValueError as error:
        message = f"Expected KIND=RATE, such as drop=0.1, got {text!r}."
        raise typer.BadParameter(message if sign else f"{message} The kinds are {', '.join(FaultKind)}.") from error


GoldSources = Annotated[
    list[str],
    typer.Argument(metavar="GOLD...", help="Gold documents: folders, .json or .jsonl files, globs, or - for stdin."),
]
Rates = Annotated[
    list[Rate] | None,
    typer.Option(
        "--rate",
        metavar="KIND=RATE",
        parser=parse_rate,
        help=f"Share of the entries that receive a fault of this kind: {', '.join(FaultKind)}. May be repeated. "
        f"Default: {RATES[FaultKind.DROP]:g} for every kind except rename.",
    ),
]
At = Annotated[str | None, typer.Option(metavar="PATH", help="Wildcard path of the only list to plant faults into.")]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Random seed.")]
Out = Annotated[
    Path | None, typer.Option(metavar="FILE", help="File for the pairs (.jsonl). Default: standard output.")
]


def perturb(
    gold: GoldSources,
    *,
    rates: Rates = None,
    at: At = None,
    seed: Seed = 0,
    out: Out = None,
    id_key: IdKey = "id",
    output: TerminalOptions,
) -> None:
    """Plant faults into copies of gold documents, to learn how the scores react.

    Writes one record per line for `arbitre evaluate --pairs`: the id, the gold document, the copy as the prediction,
    and the planted faults.
    """
    screen, planted, number = output.terminal(), Counter[str](), 0
    chosen = dict(rates) if rates else RATES
    with nullcontext(sys.stdout) if out is None else atomic_text_file(out) as file:
        for source in gold:
            for record in (record for path in expand_globs(source) for record in read_documents(str(path), id_key)):
                copy = perturbed(record.value, chosen, at=at, seed=seed, key=record.id)
                faults = [fault.to_dict() for fault in copy.faults]
                line = {"id": record.id, "gold": record.value, "predicted": copy.document, "planted": faults}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
                planted.update(copy.counts)
                number += 1
    summary = ", ".join(f"{planted[kind]} {kind}" for kind in FaultKind if planted[kind]) or "none"
    screen.note(f"{counted(number, 'document')}; planted faults: {summary}")
