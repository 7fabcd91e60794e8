"""Commands whose measures are those of one field: one module per command."""
