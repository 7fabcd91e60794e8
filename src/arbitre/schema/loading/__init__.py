"""Reading and validation of schemas, references, annotations and overlays."""
