"""Finds predicted fields under unknown keys by their values, and proposes aliases for them.

`field_values` reads the fields of documents, `value_evidence` measures whether two fields have the same values,
`suggest` chooses the aliases.
"""

from arbitre.diagnosis.renamed_fields.suggest import AliasSuggestion, AliasSuggestions, suggest_aliases

__all__ = ["AliasSuggestion", "AliasSuggestions", "suggest_aliases"]
