"""The broker beside its rivals, on one PostgreSQL, in one run: `python -m durable_bench`."""
