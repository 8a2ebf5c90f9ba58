"""Accounts that move from one cell to another: what is theirs, out of one database and into another."""
