"""Swift: types and functions that may be tests, and what they inherit from."""
