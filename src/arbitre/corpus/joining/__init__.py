"""Joins each prediction with the gold document of the same id."""
