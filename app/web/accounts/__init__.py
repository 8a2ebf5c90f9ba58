"""Accounts: ways in, proofs, settings, tokens, usage, copies, and the mails about them."""
