"""Results of an evaluation: documents, scores, intervals, data frames, gates."""
