"""The demo corpus: an invented index of speakers, and what two systems read in it."""
