"""Compilation of subschemas to nodes: merges alternatives and resolves options."""
