"""Checks and corrections of gold documents, and planted faults."""
