"""Benchmarks: each prints a table and a line of JSON; none is a test."""
