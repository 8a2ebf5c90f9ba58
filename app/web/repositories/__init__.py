"""Public repositories: their newest results, trends, badges and bookmarks."""
