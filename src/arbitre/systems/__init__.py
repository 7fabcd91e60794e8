"""Compares systems, factor levels, runs and versions on the same documents."""
