"""Coefficients of aligned objects, lists and single values, with the distance of the schema."""
