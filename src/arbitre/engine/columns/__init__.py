"""Documents as columns, built along the plan: values, links, codes, weights."""
