"""Use cases of operators and the schedule for the whole service: audit, sweep, prune, queues, dead letters."""
