"""The tests of a result: listed, compared, as a file."""
