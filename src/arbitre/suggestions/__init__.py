"""Suggests settings of a schema from gold and predictions: aliases, gates, and advice on each path."""
