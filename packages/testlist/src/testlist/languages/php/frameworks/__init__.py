"""The test frameworks of PHP, a file each."""
