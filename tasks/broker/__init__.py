"""A durable Celery and kombu transport over PostgreSQL."""
