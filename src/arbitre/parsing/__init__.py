"""Parses numbers and dates written as text. A text that is ambiguous or incomplete is not parsed."""
