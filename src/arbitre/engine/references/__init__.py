"""Finds which gold and predicted entries with ids are the same, so that references can be compared."""
