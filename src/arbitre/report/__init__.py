"""Reports, tables and figures of results."""
