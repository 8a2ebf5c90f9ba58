"""Bats: tests of shell scripts, as its preprocessor finds them."""
