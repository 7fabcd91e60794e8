"""Figures of results as Vega-Lite, SVG, PDF and PNG."""
