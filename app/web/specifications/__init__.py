"""How a specification is read: on pages, and as a file."""
