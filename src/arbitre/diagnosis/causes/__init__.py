"""Why predictions are wrong: values in the wrong entry, splits and merges, and what each class of fault costs."""
