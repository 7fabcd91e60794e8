"""Reads documents from every kind of source, and joins predictions with gold by id."""
