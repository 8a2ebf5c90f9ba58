"""Accounts: who they are, how they sign in, what they may use, and how they are forgotten."""
