"""Accounts: their creation, sign-in, tokens, tiers, usage and deletion."""
