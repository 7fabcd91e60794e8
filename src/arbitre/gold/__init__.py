"""Checks of gold documents, aliases and gates suggested from them, and planted faults."""
