"""Compares systems, factor levels and runs on the same documents."""
