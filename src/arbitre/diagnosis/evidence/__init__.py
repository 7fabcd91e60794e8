"""Where faults come from: whether a value occurs in the source text, and which values are missing most often."""
