"""Compilation of subschemas to nodes: expands branches and resolves options."""
