"""Webhooks: signed requests to an account's addresses when its jobs end (docs/adr/0054)."""
