"""Document data of the report: entries, trees, quality matrices and worst documents."""
