"""Analyses: how they are submitted, run, finished, and rescheduled."""
