"""Whether planted causes are found: recall, false causes, and predicted against realised gains, by kind of cause.

    python -m tests.bench.planted_causes                             # every kind, mixtures and noise; all tables
    python -m tests.bench.planted_causes --kind case --seeds 5       # one kind only
    python -m tests.bench.planted_causes --kind case --show          # and what was planted and reported, where they differ
    python -m tests.bench.planted_causes --kind case --corpus letters --show
    python -m tests.bench.planted_causes --kind none --mixtures 20   # only mixtures of two to four causes
    python -m tests.bench.planted_causes --kind none --noise 100     # only noise without a cause
    python -m tests.bench.planted_causes --json out.json

To get one corpus in Python:

    from tests.bench.cause_planters import corpora, plant
    planted = plant("date-format", corpora(0)[0], seed=0)      # planted.gold, .predicted, .plantings, .without
"""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.cause_corpora import noise_corpus, seeded
from tests.bench.cause_planters import KINDS, corpora, mixtures, plant

SEEDS = 2
"""Number of corpora of each schema and kind."""
MIXTURES = 20
"""Number of corpora with several causes."""
NOISE_CORPORA = 60
"""Number of corpora of noise without a cause."""
CLOSE = 0.01
"""Largest difference between a predicted and a realised gain that counts as equal."""

SAME = {
    "number-format": {"amount"},  # `amount` reads every notation of a number: the change repairs the same values
    "amount": {"number-format"},  # `number` with `currency` reads amounts: likewise
    "quotes": {"punctuation"},  # quotation marks are punctuation, and `strip-punctuation` repairs them
    "promoted": {"renamed-key"},  # of a field: an alias names its new place, and no other change is possible
    "demoted": {"renamed-key"},  # likewise
}
"""Other kinds that count as the planted one, because they are the same repair of the same places."""
SINGLE = {"moved-object", "moved-value", "split", "merged", "near", "part-of", "unrelated", "omission", "hallucination"}
"""Kinds of faults that only look alike: they should be reported, but not as systematic causes."""
WHOLE = {"wrapped-root", "unwrapped-root", "page-shifted"}
"""Kinds that change whole documents; any path counts as the planted one."""


@dataclass
class Outcome:
    """What was planted in a corpus, and what was reported.

    Attributes:
        corpus: Name of the corpus.
        f1q: Pooled f1q of the predictions.
        plantings: The causes.
        covered: For each of them, the reported number of faults divided by the number of changes; 0 if not reported.
        causes: The reported causes.
        false: The systematic causes among them that were not planted.
        gains: Kind, predicted and realised gain of the causes whose gain can be tested.
    """

    corpus: str
    f1q: float
    plantings: list
    covered: list
    causes: list
    false: list
    gains: list = field(default_factory=list)


def evaluated(schema, gold, predicted, *, overlay=None, diagnose=False):
    """Evaluate documents; the package is imported here only, as the corpora need nothing of it."""
    from arbitre import Comparator

    triples = [(f"d{number:03}", *pair) for number, pair in enumerate(zip(gold, predicted, strict=True))]
    comparator = Comparator(schema, overlay=overlay) if overlay else Comparator(schema)
    return comparator.evaluate(triples, diagnose=diagnose)


def same_path(planting, paths):
    """Whether a cause at these paths is at a path of the planting, or below."""
    if planting.kind in WHOLE:
        return True
    mine = {path.removesuffix("/*") for path in planting.paths}
    return any(
        path == other or (other and path.startswith(f"{other}/"))
        for path in (path.removesuffix("/*") for path in paths)
        for other in mine
    )


def is_same(planting, cause):
    """Whether a reported cause is a planted one."""
    return (
        cause.kind in {planting.kind} | SAME.get(planting.kind, set())
        and same_path(planting, cause.paths)
        and (cause.systematic or planting.kind in SINGLE)
        and planting.side in {"prediction", cause.side}
    )


def measure(planted):
    """Evaluate a planted corpus, and compare what is reported with what was planted."""
    schema = planted.corpus.schema
    evaluation = evaluated(schema, planted.gold, planted.predicted, diagnose=True)
    try:
        causes, before = list(evaluation.causes), evaluation.micro.f1q
    except Exception:  # noqa: BLE001  (a crash counts as not found, and the others are measured)
        traceback.print_exc()
        return Outcome(planted.corpus.name, 0.0, planted.plantings, [0] * len(planted.plantings), [], [])
    covered = [
        sum(one.count for one in causes if is_same(planting, one)) / planting.count for planting in planted.plantings
    ]
    false = [
        cause for cause in causes if cause.systematic and not any(is_same(one, cause) for one in planted.plantings)
    ]
    outcome = Outcome(planted.corpus.name, before, planted.plantings, covered, causes, false)
    for cause in causes:
        if cause.change is not None:
            after = evaluated(schema, planted.gold, planted.predicted, overlay=dict(cause.change)).micro.f1q
            outcome.gains.append((cause.kind, cause.gain, after - before))
    for planting, (gold, predicted) in zip(planted.plantings, planted.without, strict=True):
        of_it = [cause for cause in causes if is_same(planting, cause)]
        if planting.kind not in SINGLE and len(of_it) == 1 and of_it[0].change is None:
            after = evaluated(schema, gold, predicted).micro.f1q
            outcome.gains.append((of_it[0].kind, of_it[0].gain, after - before))
    return outcome


def outcomes(kinds=KINDS, seeds=range(SEEDS), only=None, several=MIXTURES):
    """The outcomes of all corpora with one cause, by kind, and of the mixtures, under "mixture"."""
    for kind in kinds:
        for seed in seeds:
            for corpus in corpora(seed):
                if only in {None, corpus.name} and (planted := plant(kind, corpus, seed)) is not None:
                    yield kind, measure(planted)
    for planted in mixtures(several, seeds[0]):
        yield "mixture", measure(planted)


def summary(results):
    """One row for every kind.

    Columns: the number of corpora with the cause and of those in which it was found, and the sum of the shares of its
    changes that the reported causes count as faults; the number of systematic causes
    that were reported in these corpora, and of those that were not planted; the number of systematic causes that were
    reported as this kind in any corpus, and of those that were not planted; the number of gains that can be tested, and
    of those that are realised.
    """
    rows = {}

    def row(kind):
        return rows.setdefault(kind, Counter())

    for kind, outcome in results:
        mine = row(kind)
        mine["planted"] += len(outcome.plantings)
        mine["found"] += sum(share > 0 for share in outcome.covered)
        mine["covered"] += sum(min(1, share) for share in outcome.covered)
        mine["beside"] += sum(cause.systematic for cause in outcome.causes)
        mine["beside false"] += len(outcome.false)
        for cause in outcome.causes:
            if cause.systematic:
                row(cause.kind)["reported"] += 1
        for cause in outcome.false:
            row(cause.kind)["false"] += 1
        for reported, predicted, realised in outcome.gains:
            row(reported)["gains"] += 1
            row(reported)["realised"] += abs(predicted - realised) <= CLOSE
    return rows


def noise(number=NOISE_CORPORA, first=0):
    """The settings of every corpus of noise, and the systematic causes that are reported."""
    for seed in range(first, first + number):
        schema, gold, predicted, settings = noise_corpus(seeded("noise corpus", seed))
        causes = evaluated(schema, gold, predicted, diagnose=True).causes
        yield {**settings, "seed": seed}, [cause for cause in causes if cause.systematic]


def share(part, whole):
    return f"{part / whole:.2f}" if whole else "–"


def shown(cause):
    """A cause as one line."""
    mark = "" if cause.systematic else " (not systematic)"
    examples = [(one.gold, one.predicted) for one in cause.examples[:2]]
    return f"{cause.kind}{mark} {', '.join(cause.paths[:4])} n={cause.count} gain={cause.gain:.4f} {examples!r:.160}"


def differences(kind, outcome):
    """Lines about what was planted and not found, reported and not planted, or gained otherwise than predicted."""
    wrong = [
        (name, predicted, realised) for name, predicted, realised in outcome.gains if abs(predicted - realised) > CLOSE
    ]
    if all(outcome.covered) and not outcome.false and not wrong:
        return
    yield f"## {kind}, {outcome.corpus}, f1q {outcome.f1q:.3f}"
    for planting, found in zip(outcome.plantings, outcome.covered, strict=True):
        what = (
            f"{planting.kind} ({planting.variant}) {', '.join(planting.paths)} n={planting.count} side={planting.side}"
        )
        yield f"- {'found' if found else 'MISSED'}: {what}"
    if not all(outcome.covered):
        yield from (f"  - reported: {shown(cause)}" for cause in outcome.causes[:6])
    yield from (f"- FALSE: {shown(cause)}" for cause in outcome.false)
    for name, predicted, realised in wrong:
        yield f"- GAIN of {name}: predicted {predicted:.4f}, realised {realised:.4f}"


def printed(rows):
    print(
        f"{'kind':22}{'planted':>8}{'recall':>8}{'covered':>9}{'beside':>8}{'false':>7}{'reported':>10}{'false':>7}{'gains':>7}{'realised':>10}"
    )
    for kind in sorted(rows, key=lambda name: (name not in KINDS, KINDS.index(name) if name in KINDS else 0)):
        row = rows[kind]
        print(
            f"{kind:22}{row['planted']:8}{share(row['found'], row['planted']):>8}{share(row['covered'], row['found']):>9}"
            f"{row['beside']:8}{share(row['beside false'], row['beside']):>7}"
            f"{row['reported']:10}{share(row['false'], row['reported']):>7}"
            f"{row['gains']:7}{share(row['realised'], row['gains']):>10}"
        )
    total = sum(rows.values(), Counter())
    print(
        f"all: recall {share(total['found'], total['planted'])}, false {share(total['false'], total['reported'])}, "
        f"gains within {CLOSE}: {share(total['realised'], total['gains'])}"
    )


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--kind", action="append", choices=(*KINDS, "none"), help="only this kind; several times for several"
    )
    parser.add_argument("--corpus", help="only the corpus of this name")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="number of corpora of each schema and kind")
    parser.add_argument("--first", type=int, default=0, help="first seed; other seeds make other corpora")
    parser.add_argument("--mixtures", type=int, help="number of corpora with several causes")
    parser.add_argument("--noise", type=int, help="number of corpora of noise")
    parser.add_argument("--show", action="store_true", help="print what differs from what was planted")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args(arguments)
    kinds = KINDS if options.kind is None else [kind for kind in options.kind if kind != "none"]
    several = (0 if options.kind else MIXTURES) if options.mixtures is None else options.mixtures
    number = (0 if options.kind else NOISE_CORPORA) if options.noise is None else options.noise
    results, seeds = [], range(options.first, options.first + options.seeds)
    for kind, outcome in outcomes(kinds, seeds, options.corpus, several):
        results.append((kind, outcome))
        if options.show:
            print("\n".join(differences(kind, outcome)) or f"- {kind}, {outcome.corpus}: as planted", flush=True)
    rows = summary(results)
    if rows:
        printed(rows)
    false = []
    for settings, causes in noise(number, options.first):
        false += [(settings, [cause.kind for cause in causes])] if causes else []
        if options.show and causes:
            print(f"## noise {settings}", *(f"- FALSE: {shown(cause)}" for cause in causes), sep="\n", flush=True)
    if number:
        print(f"noise: {len(false)} of {number} corpora have a systematic cause ({share(len(false), number)})")
    if options.json:
        figures = {
            "kinds": {kind: dict(row) for kind, row in rows.items()},
            "noise": {"corpora": number, "false": false},
        }
        options.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
