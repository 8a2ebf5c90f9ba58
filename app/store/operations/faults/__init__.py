"""Statements for what `fairlane doctor` looks for; each finds rows of ids and numbers, and locks nothing."""
