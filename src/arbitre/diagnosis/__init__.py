"""Diagnostics of distances (`metricity`), of predictions (`causes`, `moves`) and of gold documents."""
