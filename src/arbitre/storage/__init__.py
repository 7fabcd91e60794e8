"""Writes results, and stores corpora larger than memory: columns on disk, temporary databases, Arrow files."""
