"""Figures of results in Vega-Lite, SVG, PDF and PNG."""
