"""Results as they are read: tests, histories, and the newest of each repository."""
