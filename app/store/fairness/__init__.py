"""Waiting jobs: where, behind whom and why they wait."""
