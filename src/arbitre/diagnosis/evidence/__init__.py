"""Where faults come from: whether a value stands in the source text, and which values are missing most often."""
