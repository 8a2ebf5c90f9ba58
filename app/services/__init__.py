"""One use case per module, named by its verb."""
