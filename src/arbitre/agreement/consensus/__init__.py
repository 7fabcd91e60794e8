"""Building gold documents from the documents of several annotators."""
