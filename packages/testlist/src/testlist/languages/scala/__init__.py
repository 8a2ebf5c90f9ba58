"""Scala: what a file declares, and what its test frameworks make of it."""
