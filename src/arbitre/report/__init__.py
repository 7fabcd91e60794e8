"""Builds the report of results, its page and its figures."""
