"""Builds the report page and the figures from results."""
