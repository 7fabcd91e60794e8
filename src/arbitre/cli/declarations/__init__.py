"""The commands: help, arguments and options.

The function of a command is in a module of `arbitre.cli.commands`, which is imported when the command runs. `--help`
needs only this folder.
"""

from __future__ import annotations

from typing import Final

from arbitre.cli.declarations.annotators import Agree, Consensus, Gamma, LeaveOneOut
from arbitre.cli.declarations.comparing import (
    Compare,
    Confidence,
    ConfigShow,
    Demo,
    Diff,
    Entities,
    Evaluate,
    Figures,
    Fix,
    Init,
    Rank,
    Report,
)
from arbitre.cli.declarations.gold import Advise, GoldApply, Perturb
from arbitre.cli.declarations.schema import (
    Metricity,
    SchemaCheck,
    SchemaExplain,
    SchemaImport,
    SchemaInfer,
    SchemaSuggestAliases,
    SchemaSuggestGate,
)
from arbitre.cli.declarations.text import TextBleu, TextCorpus, TextPerplexity, TextRouge

DECLARATIONS: Final[dict[str, type]] = {
    "init": Init,
    "compare": Compare,
    "evaluate": Evaluate,
    "rank": Rank,
    "agree": Agree,
    "gamma": Gamma,
    "consensus": Consensus,
    "leave-one-out": LeaveOneOut,
    "entities": Entities,
    "diff": Diff,
    "fix": Fix,
    "schema infer": SchemaInfer,
    "schema check": SchemaCheck,
    "schema explain": SchemaExplain,
    "schema import": SchemaImport,
    "schema suggest-aliases": SchemaSuggestAliases,
    "schema suggest-gate": SchemaSuggestGate,
    "demo": Demo,
    "report": Report,
    "figures": Figures,
    "metricity": Metricity,
    "perturb": Perturb,
    "gold apply": GoldApply,
    "text rouge": TextRouge,
    "text bleu": TextBleu,
    "text perplexity": TextPerplexity,
    "text corpus": TextCorpus,
    "confidence": Confidence,
    "advise": Advise,
    "config show": ConfigShow,
}
"""The commands by name. The module is named after the first word, and its function after the last one."""

REPLACED: Final = frozenset({"schema suggest-aliases", "schema suggest-gate"})
"""Commands that `arbitre fix` replaces. They work, but are not listed."""

GROUPS: Final = {
    "config": "Print the config file of a project.",
    "gold": "Correct gold according to decisions made in a report.",
    "schema": "Infer, check, explain or import a schema.",
    "text": "Measure generated text: ROUGE, BLEU and perplexity.",
}
"""Summaries of the groups of commands."""
