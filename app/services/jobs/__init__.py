"""The life of a job of either service: its start, its heartbeat, its end, and how it is read."""
