"""Evaluates corpora: reads documents, joins them by id, compares them and computes scores and statistics."""
