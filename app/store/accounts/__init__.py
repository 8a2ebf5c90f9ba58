"""Users, how they get in, what they may do and how often."""
