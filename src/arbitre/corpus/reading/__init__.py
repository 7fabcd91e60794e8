"""Files to records: documents read strictly, one by one, with their place in the source."""
