"""Runs the evaluation of a corpus: workers, executors, checkpoints and the accumulation of results."""
