"""The search for the alignment of the units of several annotators with the least disorder."""
