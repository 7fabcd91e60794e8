"""Documents as the report shows them: entries, trees, matrices, the worst ones."""
