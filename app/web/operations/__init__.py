"""For operators and their monitors: the console, its REST, health and metrics."""
