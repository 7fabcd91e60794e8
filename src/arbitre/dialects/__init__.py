"""Schemas that are annotated for other tools: translation of their keywords into an x-arbitre overlay."""
