"""Time, memory and repeated runs of the inventory engine."""
