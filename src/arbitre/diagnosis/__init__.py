"""Diagnostics of distances (`metricity`), of results (`causes`) and of gold documents."""
