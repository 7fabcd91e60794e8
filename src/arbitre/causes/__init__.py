"""Causes: what went wrong throughout a corpus, what it costs, and what repairing it gains."""
