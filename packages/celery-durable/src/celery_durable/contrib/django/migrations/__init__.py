"""A migration for each version of the broker's schema, which it names, and for what the models show of it."""
