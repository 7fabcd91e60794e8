"""Why predictions are wrong: faults and their costs, values in the wrong place, splits and merges, and evidence."""
