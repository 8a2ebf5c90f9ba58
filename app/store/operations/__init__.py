"""Data that operators and beat read and clean up."""
