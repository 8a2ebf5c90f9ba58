"""Maintenance on a database of a million jobs."""
