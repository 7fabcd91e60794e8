"""Evaluating a corpus: work units, executors, checkpoints, accumulation."""
