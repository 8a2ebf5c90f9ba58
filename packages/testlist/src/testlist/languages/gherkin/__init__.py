"""Gherkin: what a feature file declares, and what Cucumber and its kin make of it."""
