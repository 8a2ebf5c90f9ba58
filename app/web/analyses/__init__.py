"""Submitting analyses, one or many, by form and REST."""
