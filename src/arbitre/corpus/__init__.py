"""From files to scores: documents read strictly and joined by id."""
