"""`arbitre perturb`: plant faults in copies of gold documents."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from arbitre.cli.output.console import counted
from arbitre.cli.shared_options import Force, IdKey, TerminalOptions
from arbitre.comparator.suggestions import perturb_gold
from arbitre.diagnosis.perturbation import RATES, FaultKind


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
At = Annotated[str | None, typer.Option(metavar="PATH", help="Wildcard path of the only list to plant faults in.")]
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
    force: Force = False,
    output: TerminalOptions,
) -> None:
    """Plant faults in copies of gold documents, to see how the scores react.

    Writes one record per line for `arbitre evaluate --pairs`: the id, the gold document, the copy as the prediction,
    and the planted faults.
    """
    screen, planted = output.terminal(), Counter[str]()
    out = screen.destination(out, force=force)
    copies = perturb_gold(gold, dict(rates) if rates else RATES, at=at, seed=seed, out=out, id_key=id_key)
    if out is None:
        for copy in copies:
            sys.stdout.write(json.dumps(copy.to_dict(), ensure_ascii=False) + "\n")
    for copy in copies:
        planted.update(copy.perturbed.counts)
    summary = ", ".join(f"{planted[kind]} {kind}" for kind in FaultKind if planted[kind]) or "none"
    screen.note(f"{counted(len(copies), 'document')}; planted faults: {summary}")
