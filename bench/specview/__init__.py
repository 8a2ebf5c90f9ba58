"""What specifications take, and a sample of what the built-in generator writes, to be judged."""
