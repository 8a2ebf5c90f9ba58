"""One use case per module, named by its verb, in a room for each part of the service."""
