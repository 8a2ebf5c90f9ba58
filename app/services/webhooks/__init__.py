"""Webhooks: what an account is told when its jobs end (docs/adr/0054)."""
