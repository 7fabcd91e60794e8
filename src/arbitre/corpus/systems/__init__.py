"""Several systems, factors or runs compared on the same documents."""
