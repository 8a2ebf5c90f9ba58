"""Robot Framework."""
