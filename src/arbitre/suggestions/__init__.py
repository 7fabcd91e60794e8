"""Suggestions for a schema, based on gold and predictions (aliases, gates, advice on paths), and advice on labels."""
