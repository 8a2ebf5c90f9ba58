"""Ruby: facts of files, and the classes and groups that both frameworks share."""
