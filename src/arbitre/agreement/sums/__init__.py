"""Sums over items by document, from which coefficients of many resamples are computed at once."""
