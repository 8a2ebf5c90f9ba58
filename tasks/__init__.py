"""Celery's side of the service: unpack, call one service, return."""
