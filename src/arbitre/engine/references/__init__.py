"""Finds which gold and predicted items with ids are the same, so that references can be compared."""
