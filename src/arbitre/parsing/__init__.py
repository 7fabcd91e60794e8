"""Reads JSON, markup, numbers and dates from text. A number or date that is ambiguous or incomplete is not read."""
