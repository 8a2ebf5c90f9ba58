"""What the built-in generator writes, as a sample to judge, and how fast."""
