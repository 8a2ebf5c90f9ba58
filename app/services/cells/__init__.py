"""Cells: the move of an account from one PostgreSQL to another (docs/adr/0097)."""
