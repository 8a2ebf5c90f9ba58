"""Documents, the words that they are made of, and the calls of models."""
