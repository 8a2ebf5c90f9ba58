"""Webhooks, their secrets, deliveries and turns."""
