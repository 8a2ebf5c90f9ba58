"""Webhooks, their log and their tests."""
