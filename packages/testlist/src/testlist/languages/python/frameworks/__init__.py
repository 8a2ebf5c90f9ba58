"""The test frameworks of Python, a file each."""
