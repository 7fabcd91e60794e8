"""One table value, and its writers: Markdown, LaTeX, HTML, CSV, Arrow and the terminal."""
