"""Write the table of the page on benchmarks from a measurement.

python tests/bench/side_by_side.py --json bench.json
python docs/make_benchmarks.py bench.json
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, Final

PAGE: Final = Path(__file__).with_name("benchmarks.md")
TABLE: Final = re.compile(r"(<!-- measured -->\n).*?(<!-- end -->)", re.DOTALL)
PEERS: Final = {
    "seed_difflib": "published script",
    "structured_eval": "structured-eval",
    "stickler_rapidfuzz": "Stickler",
    "anls_star": "ANLS*",
    "deepdiff_pairs": "DeepDiff",
}
"""Name of each peer on the page, by its name in the measurement. Other rows of the measurement compare no peers."""


def table(measured: dict[str, Any]) -> str:
    """Return the table of ratios and the versions, as Markdown."""
    lines = ["| peer | documents | entries | arbitre | peer | ratio |", "|---|---|---|---|---|---|"]
    missing = []
    rows = [row for row in measured["rows"] if row["against"] in PEERS]
    for row in sorted(rows, key=lambda row: (list(PEERS).index(row["against"]), row["work"], row["size"])):
        peer = PEERS[row["against"]]
        if row["theirs"] is None:
            missing.append(peer)
            continue
        work = row["work"].replace("FLAT", "flat").replace("NESTED", "nested")
        cells = [peer, work, str(row["size"]), _time(row["ours"]), _time(row["theirs"]), _digits(row["ratio"])]
        lines.append(f"| {' | '.join(cells)} |")
    versions = ", ".join(f"{name} {version}" for name, version in measured["versions"].items())
    lines += ["", f"Versions: {versions}."]
    if missing:
        lines.append(f"Not installed, so not measured: {', '.join(dict.fromkeys(missing))}.")
    return "\n".join(lines) + "\n"


def _time(seconds: float) -> str:
    return f"{_digits(seconds * 1000)} ms" if seconds < 1 else f"{_digits(seconds)} s"


def _digits(value: float) -> str:
    """Return a number with three significant digits, without an exponent."""
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"  # noqa: PLR2004  (four digits before the point)


def main(measurement: str) -> None:
    """Write the table of a measurement into the page."""
    found = table(json.loads(Path(measurement).read_text(encoding="utf-8")))
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(TABLE.sub(lambda marks: f"{marks[1]}\n{found}\n{marks[2]}", page), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
