"""Aids for interpreting agreement coefficients: other coefficients, intervals, and distances between categories."""
