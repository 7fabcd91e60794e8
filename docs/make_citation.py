"""Write how to cite arbitre into `citation.md`.

python docs/make_citation.py

Version and year are those of `arbitre.version`, authors, licence and keywords those of `[project]` in `pyproject.toml`,
and the URL is `Repository` in `[project.urls]`. Only the title is declared here.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, Final

from arbitre.version import YEAR, __version__

PAGE: Final = Path(__file__).with_name("citation.md")
PYPROJECT: Final = PAGE.parents[1] / "pyproject.toml"
TITLE: Final = "arbitre: comparison of nested structured outputs"
NO_ADDRESS: Final = "<repository>"
"""Placeholder for the URL while `pyproject.toml` states none, as in the README."""
BEGIN, END = "<!-- made by docs/make_citation.py -->\n\n", "\n<!-- end of what docs/make_citation.py made -->"

SENTENCE = """\
> {authors} ({year}). {title}, version {version}. {shown_url}. Signature: `<the last line of the table>`.
"""

BIBTEX = """\
```bibtex
@software{{arbitre,
  author  = {{{{{authors}}}}},
  title   = {{{title}}},
  version = {{{version}}},
  year    = {{{year}}},
  url     = {{{url}}},
  note    = {{Signature: ...}}
}}
```
"""

CFF = """\
```yaml
cff-version: 1.2.0
message: If you publish results obtained with arbitre, please cite it and report the signature with the results.
type: software
title: "{title}"
version: {version}
authors:
{names}
license: {license}
{address}
preferred-citation:
  type: software
  title: "{title}"
  authors:
{nested_names}
  version: {version}
  year: {year}
```
"""


def project() -> dict[str, Any]:
    """Return `[project]` of `pyproject.toml`."""
    return dict(tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"])


def blocks(declared: dict[str, Any]) -> str:
    """Return the sentence, the BibTeX entry and the contents of `CITATION.cff` for a project."""
    names = [author["name"] for author in declared["authors"]]
    url = declared.get("urls", {}).get("Repository", NO_ADDRESS)
    facts = {
        "authors": " and ".join(names),
        "title": TITLE,
        "version": __version__,
        "year": YEAR,
        "url": url,
        "shown_url": f"`{url}`" if url == NO_ADDRESS else f"<{url}>",
        "names": _listed(names, indent=2),
        "nested_names": _listed(names, indent=4),
        "license": declared["license"],
        "address": f"{'# ' * (url == NO_ADDRESS)}repository-code: {url}",
    }
    cff = "`CITATION.cff`, for the top level of a repository:\n\n" + CFF
    return "\n".join(text.format(**facts) for text in (SENTENCE, BIBTEX, cff))


def _listed(names: list[str], *, indent: int) -> str:
    """Return names as items of a YAML list."""
    return "\n".join(f'{" " * indent}- name: "{name}"' for name in names)


def citation(page: str, declared: dict[str, Any]) -> str:
    """Return the page with its blocks regenerated."""
    made = re.compile(f"(?<={re.escape(BEGIN)}).*(?={re.escape(END)})", re.DOTALL)
    return made.sub(lambda _: blocks(declared), page)


def main() -> None:
    """Write the page."""
    PAGE.write_text(citation(PAGE.read_text(encoding="utf-8"), project()), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
