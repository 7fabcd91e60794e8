"""Precision and recall of the detectors of faults, on copies of real gold with planted faults.

`python -m tests.bench.detectors` prints one row per detector. To add a detector, add a function to `DETECTORS`: it takes
a comparison and yields the pointers of its findings in gold and in the prediction.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from arbitre import Comparator, bundled, perturb
from arbitre.gold.entry_faults import FaultKind
from arbitre.paths import parse

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"

RATES = {
    "split": 0.05,
    "merge": 0.05,
    "move": 0.05,
    "swap": 0.03,
    "duplicate": 0.02,
    "drop": 0.05,
    "invent": 0.03,
    "noise": 0.1,
}
"""Rates of the faults in every copy."""
RENAME = 0.15
"""Share of the fields that are renamed in the copies for which aliases are suggested."""
SEEDS = 20


@dataclass
class Accuracy:
    """How many findings are planted faults, and how many planted faults are found."""

    findings: int = 0
    correct: int = 0
    planted: int = 0
    found: int = 0
    wrong: list = field(default_factory=list)
    missed: list = field(default_factory=list)

    @property
    def precision(self):
        return self.correct / self.findings if self.findings else None

    @property
    def recall(self):
        return self.found / self.planted if self.planted else None

    def add(self, findings, truths, allowed=()):
        """Count the findings of one document; those in `allowed` are correct as well, but need not be found.

        A finding and a fault are the same if all their pointers are, or are below them.
        """
        for finding in findings:
            correct = any(same(finding, truth) for truth in (*truths, *allowed))
            self.findings, self.correct = self.findings + 1, self.correct + correct
            self.wrong += [] if correct else [finding]
        for truth in truths:
            is_found = any(same(finding, truth) for finding in findings)
            self.planted, self.found = self.planted + 1, self.found + is_found
            self.missed += [] if is_found else [truth]


def same(finding, truth):
    """Whether the pointers of a finding are those of a fault, or below one of them."""
    return all(
        len(mine) == len(theirs)
        and all(f"{pointer}/".startswith(f"{above}/") for pointer, above in zip(mine, theirs, strict=True))
        for mine, theirs in zip(finding, truth, strict=True)
    )


def joins(joined):
    """The pointers of merges or splits."""
    return [
        (tuple(f"{join.list}/{at}" for at in join.gold), tuple(f"{join.list}/{at}" for at in join.predicted))
        for join in joined
    ]


DETECTORS = {
    "merge": lambda comparison: joins(comparison.diagnosis.merges),
    "split": lambda comparison: joins(comparison.diagnosis.splits),
    "move": lambda comparison: [((value.source,), (value.target,)) for value in comparison.diagnosis.moved],
}
"""The detectors of a comparison, by the kind of fault that they find."""


def corpora():
    """The comparator and the gold documents of each corpus, by its name."""
    senate, extract = DATA / "senat-1931", DATA / "extract-bench"
    examples = {name: bundled.schema(f"examples/senat-{name}.schema.json") for name in ("published", "nested")}
    yield "Senate", Comparator(examples["published"]), documents(senate / "gold")
    yield "Senate, nested", Comparator(examples["nested"]), {"page_02": load(senate / "nested" / "gold.json")}
    for name in ("swimming", "credit_agreement"):
        yield name, Comparator(extract / name / "schema.json"), documents(extract / name / "gold")


def load(file):
    return json.loads(file.read_text(encoding="utf-8"))


def documents(folder):
    return {file.stem: load(file) for file in sorted(folder.glob("*.json"))}


def pointers(fault):
    return fault.gold, fault.predicted


def of_kind(faults, *kinds):
    return [pointers(fault) for fault in faults if fault.kind in kinds]


def moved(faults):
    """Where faults other than moves put values, as one pair of pointers for each source and target.

    If two entries swap their names, it is the same to say that they swap everything else.
    """
    for fault in faults:
        if fault.kind in {FaultKind.SWAP, FaultKind.MERGE, FaultKind.SPLIT}:
            gold, predicted = (set(map(entry, side)) for side in pointers(fault))
            yield from (((source,), (target,)) for source in gold for target in predicted)


def entry(pointer):
    """The pointer up to its last list position."""
    tokens = pointer.split("/")
    last = max(at for at, token in enumerate(tokens) if token.isdecimal())
    return "/".join(tokens[: last + 1])


def measure(seeds=SEEDS, detectors=DETECTORS):
    """Measure every detector.

    Returns:
        The accuracy by kind of fault, and the number of copies.
    """
    accuracies, copies = defaultdict(Accuracy), 0
    for _, comparator, gold in corpora():
        for seed in range(seeds):
            for key, document in gold.items():
                copy = perturb(document, RATES, seed=seed, key=key)
                copies += 1
                comparison = comparator.compare(gold=document, predicted=copy.document)
                for kind, detector in detectors.items():
                    allowed = moved(copy.faults) if kind == "move" else ()
                    accuracies[kind].add(detector(comparison), of_kind(copy.faults, FaultKind(kind)), tuple(allowed))
            accuracies["rename"].add(*aliases(comparator, gold, seed))
    return dict(accuracies), copies


def aliases(comparator, gold, seed):
    """The suggested aliases of one corpus of copies, and the renamed fields, as pairs of paths.

    Only declared fields can have an alias, and the minimum evidence is three values: fields with fewer different values in
    the corpus are left out.
    """
    copies = {key: perturb(document, RATES | {"rename": RENAME}, seed=seed, key=key) for key, document in gold.items()}
    suggested = comparator.suggest_aliases((key, gold[key], copy.document) for key, copy in copies.items())
    paths = {
        row.path
        for row in comparator.explain()
        if len({json.dumps(value) for document in gold.values() for value in values_at(document, parse(row.path))}) >= 3
    }
    renamed = (pair for copy in copies.values() for pair in of_kind(copy.faults, FaultKind.RENAME))
    planted = [pair for pair in dict.fromkeys(renamed) if pair[0][0] in paths]
    targets = {source: target for (source,), (target,) in planted}
    findings = [
        (
            (suggestion.path,),
            (
                targets[suggestion.path]
                if targets.get(suggestion.path, "").endswith(f"/{suggestion.alias}")
                else suggestion.alias,
            ),
        )
        for suggestion in suggested.suggestions
    ]
    return findings, planted


def values_at(value, path):
    """The values at a wildcard path, except null."""
    if not path:
        yield from [] if value is None else [value]
    elif isinstance(value, list):
        for item in value:
            yield from values_at(item, path[1:])
    elif isinstance(value, dict) and path[0] in value:
        yield from values_at(value[path[0]], path[1:])


def of_undamaged(detectors=DETECTORS):
    """The findings in copies without faults."""
    findings = []
    for _, comparator, gold in corpora():
        for document in gold.values():
            comparison = comparator.compare(gold=document, predicted=document)
            findings += [finding for detector in detectors.values() for finding in detector(comparison)]
        findings += comparator.suggest_aliases((key, document, document) for key, document in gold.items()).suggestions
    return findings


def available(detectors=DETECTORS):
    """The detectors that this version has."""
    empty = Comparator({"type": "array"}).compare(gold=[], predicted=[])
    return detectors if hasattr(empty, "diagnosis") else {}


if __name__ == "__main__":
    accuracies, number = measure(detectors=available())
    print(f"{number} copies; undamaged documents: {len(of_undamaged(available()))} findings")
    print(f"{'kind':10}{'planted':>9}{'found':>9}{'recall':>9}{'findings':>10}{'precision':>11}")
    for name, accuracy in accuracies.items():
        rates = [" – " if rate is None else f"{rate:.3f}" for rate in (accuracy.recall, accuracy.precision)]
        print(f"{name:10}{accuracy.planted:9}{accuracy.found:9}{rates[0]:>9}{accuracy.findings:10}{rates[1]:>11}")
