"""What is made of results: entries side by side, tables."""
