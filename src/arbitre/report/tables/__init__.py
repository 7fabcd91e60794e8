"""Tables of results as Markdown, LaTeX, CSV and Parquet."""
