"""A whole service under steady load: whether what it holds stays as it is (docs/testing.md)."""
