"""The result of an evaluation: documents, scores, intervals, data frames."""
