"""Suggestions for a schema from gold and predictions (aliases, gates, advice on each path), and for labels of data."""
