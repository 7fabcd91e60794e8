"""Subschemas to nodes: alternatives merged, choices resolved."""
