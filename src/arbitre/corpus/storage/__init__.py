"""Storage for corpora larger than memory: columns on disk, temporary databases, exact sums, Arrow tables."""
