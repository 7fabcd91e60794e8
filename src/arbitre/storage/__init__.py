"""Writes results, and stores corpora larger than memory: compact columns and temporary databases."""
