"""The test frameworks of Swift, a file each."""
