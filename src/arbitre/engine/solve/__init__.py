"""Qualities of pairs of rows: bounds, matchings, transport."""
