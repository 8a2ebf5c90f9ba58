"""Pages and operations for operators and their monitors: the console, its REST, health and metrics."""
