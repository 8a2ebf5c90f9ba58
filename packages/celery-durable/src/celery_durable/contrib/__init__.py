"""Parts for frameworks that the package itself does not need; each imports its framework."""
