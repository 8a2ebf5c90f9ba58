"""Requests a second and their times, of the pages that people and programs read most."""
