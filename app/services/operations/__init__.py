"""What operators and the schedule do with the whole service: audit, sweep, prune, queues, dead letters."""
