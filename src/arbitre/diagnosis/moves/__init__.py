"""Values that the prediction has in another place than gold."""
