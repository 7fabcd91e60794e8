"""Validation of documents against their schema."""
