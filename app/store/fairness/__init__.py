"""Who waits, where, behind whom and why."""
