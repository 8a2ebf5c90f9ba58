"""Git: a commit fetched, resolved and read, object by object, as hostile input."""
