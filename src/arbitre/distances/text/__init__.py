"""Distances between texts."""
