"""The demo corpus: a fictional index of speakers, with the predictions of two systems."""
