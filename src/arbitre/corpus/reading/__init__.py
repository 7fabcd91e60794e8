"""Reads files as records, one by one, and remembers the place of each record in its source."""
