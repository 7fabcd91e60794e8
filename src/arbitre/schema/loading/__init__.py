"""Schemas, references, annotations and overlays, read and checked."""
