"""Agreement on spans that annotators located themselves."""
