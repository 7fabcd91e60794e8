"""Evaluates corpora: compares pairs of documents in workers, and computes scores, chance scores and tables."""
