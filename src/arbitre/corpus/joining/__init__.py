"""Records to pairs: each prediction joined with the gold document of the same id."""
