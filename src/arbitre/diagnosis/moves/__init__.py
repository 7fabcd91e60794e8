"""Values that are in a different place in the prediction than in gold."""
