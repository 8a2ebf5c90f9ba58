"""JavaScript and TypeScript: calls that register tests, runner configuration, and whose file is whose."""
