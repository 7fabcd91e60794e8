"""`arbitre perturb`: plant faults in copies of gold documents."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import typer

from arbitre.cli.output.console import OutputOptions
from arbitre.comparator.api import perturb_gold
from arbitre.gold.entry_faults import FaultKind
from arbitre.gold.perturb import RATES
from arbitre.language import counted


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


def perturb(
    *,
    gold: list[str],
    rates: list[Rate],
    at: str | None,
    seed: int,
    out: Path | None,
    id_key: str,
    force: bool,
    output: OutputOptions,
) -> None:
    """Plant faults in copies of gold documents, to see how the scores react."""
    screen, planted = output.terminal(), Counter[str]()
    out = screen.destination(out, force=force)
    copies = perturb_gold(gold, dict(rates) if rates else RATES, at=at, seed=seed, out=out, id_key=id_key)
    if out is None:
        for copy in copies:
            screen.raw(json.dumps(copy.to_dict(), ensure_ascii=False) + "\n")
    for copy in copies:
        planted.update(copy.perturbed.counts)
    summary = ", ".join(f"{planted[kind]} {kind}" for kind in FaultKind if planted[kind]) or "none"
    screen.note(f"{counted(len(copies), 'document')}; planted faults: {summary}")
