"""The test frameworks of Go, a file each."""
