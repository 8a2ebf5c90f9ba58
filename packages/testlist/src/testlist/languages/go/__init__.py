"""Go: what a test file declares."""
