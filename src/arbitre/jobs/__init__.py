"""Runs evaluations and rankings as the commands do: reads, compares, writes results, and loads them again."""
