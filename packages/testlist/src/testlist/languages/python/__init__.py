"""Python: what a file declares, how names reach across files, and what a pytest run would collect."""
