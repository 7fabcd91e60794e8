"""Columns on disk or in memory, exact sums, Arrow: what corpora larger than memory need."""
