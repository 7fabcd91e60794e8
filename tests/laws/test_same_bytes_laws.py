"""The same input and signature give the same bytes: in every run, with any number of BLAS threads and any Python.

BLAS adds in an order that depends on memory addresses and on threads, and the built-in `sum` of floats rounds less often
from Python 3.12 on, so no reported sum may go through either.
"""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from arbitre.arrays import exact_dot, weighted_sums

COMMANDS = (
    "agree --schema schema.json ada=ada.jsonl bob=bob.jsonl eve=eve.jsonl",
    "agree --schema schema.json ada=ada.jsonl bob=bob.jsonl --suggest-category-distances",
    "gamma ada=spans-ada.jsonl bob=spans-bob.jsonl",
    "consensus --schema schema.json ada=ada.jsonl bob=bob.jsonl eve=eve.jsonl",
    "evaluate --schema schema.json --gold ada.jsonl --predicted bob.jsonl --diagnose",
    "rank --schema schema.json --gold ada.jsonl bob=bob.jsonl eve=eve.jsonl",
    "evaluate --schema transport.json --gold ada.jsonl --predicted bob.jsonl",
)
"""Commands whose results contain sums over documents, resamples, values or masses."""

SCRIPT = """
import builtins, functools, json, math, operator, sys
plain = builtins.sum

def other_sum(values, /, start=0):
    values = list(values)
    if not all(type(value) in {bool, int, float} for value in (start, *values)):
        return plain(values, start)
    if sys.version_info < (3, 12) and float in map(type, values):
        return math.fsum([start, *values])
    return functools.reduce(operator.add, values, start)

if sys.argv[3] == "other sum":
    builtins.sum = other_sum
import numpy as np
from typer.testing import CliRunner
from arbitre.cli import app
printed, kept = [], []
for repeat in range(int(sys.argv[2])):
    for command in json.loads(sys.argv[1]):
        kept.append(np.empty(3 + 2 * len(kept)))  # shifts the addresses of what is allocated next
        result = CliRunner().invoke(app, [*command.split(), "--format", "json"])
        assert result.exit_code == 0, (command, result.output, result.exception)
        printed.append(result.stdout)
sys.stdout.write(json.dumps(printed))
"""


def people(source, number):
    roles = ("author", "editor", "printer", "reader")
    return [
        {"name": "".join(source.choices("abcdef", k=7)), "role": source.choice(roles), "age": source.randint(20, 90)}
        for _ in range(number)
    ]


def misread(source, person):
    roles = ("author", "editor", "printer", "reader")
    changed = {
        "role": source.choice(roles),
        "name": person["name"][1:] + source.choice("xyz"),
        "age": person["age"] + 3,
    }
    return person | {name: value for name, value in changed.items() if source.random() < 0.3}


def test_commands_print_the_same_bytes_in_every_run_with_any_number_of_threads_and_any_sum(tmp_path):
    source = random.Random(0)  # noqa: S311
    fields = {"name": {"type": "string"}, "role": {"type": "string", "x-arbitre": {"distance": "exact"}}}
    fields["age"] = {"type": "integer", "x-arbitre": {"distance": {"absolute": {"scale": 7}}}}
    people_list = {"type": "array", "items": {"type": "object", "properties": fields}}
    for name, keyword in (("schema", {}), ("transport", {"x-arbitre": {"match": "transport"}})):
        schema = {"type": "object", "properties": {"people": people_list | keyword}}
        (tmp_path / f"{name}.json").write_text(json.dumps(schema), encoding="utf-8")
    truth = [people(source, source.randint(1, 5)) for _ in range(12)]
    for name in ("ada", "bob", "eve"):
        lines = [
            json.dumps(
                {"id": f"{at:02}", "people": [misread(source, person) for person in each if source.random() < 0.9]}
            )
            for at, each in enumerate(truth)
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
        spans = [
            json.dumps(
                {
                    "id": f"{at:02}",
                    "spans": [
                        {
                            "start": 10 * place + source.randint(0, 3),
                            "end": 10 * place + 7,
                            "label": source.choice("AB"),
                        }
                        for place in range(3)
                    ],
                }
            )
            for at in range(4)
        ]
        (tmp_path / f"spans-{name}.jsonl").write_text("\n".join(spans), encoding="utf-8")
    runs = []
    for threads, how in (("1", "own sum"), ("2", "other sum")):
        finished = subprocess.run(
            [sys.executable, "-c", SCRIPT, json.dumps(COMMANDS), threads, how],
            cwd=tmp_path,
            check=False,
            capture_output=True,
            text=True,
            env=os.environ | {"OPENBLAS_NUM_THREADS": threads},
        )
        assert finished.returncode == 0, finished.stderr
        printed = json.loads(finished.stdout)
        runs += [printed[start : start + len(COMMANDS)] for start in range(0, len(printed), len(COMMANDS))]
    for command, *outputs in zip(COMMANDS, *runs, strict=True):
        assert len(set(outputs)) == 1, command


@given(st.integers(1, 200), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_weighted_sums_do_not_depend_on_the_order_of_the_terms(number, columns, seed):
    generator = np.random.default_rng(seed)
    weights = generator.integers(0, 5, (4, number)).astype(np.float64)
    values = generator.random((number, columns)) * 10.0 ** generator.integers(-6, 6, columns)
    order = generator.permutation(number)
    sums = weighted_sums(weights, values)
    assert (sums == weighted_sums(weights[:, order], values[order])).all()
    plain = np.array([[math.fsum(row * column) for column in values.T] for row in weights])
    assert np.abs(sums - plain).max() <= 4 * np.finfo(float).eps * np.abs(plain).max()
    assert (weighted_sums(weights, values[:, 0]) == sums[:, 0]).all()
    assert exact_dot(weights[0], values[:, 0]) == exact_dot(weights[0][order], values[order, 0])
