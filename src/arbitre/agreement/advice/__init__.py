"""What helps to read coefficients of agreement: other coefficients, intervals, and distances between categories."""
