"""Fairlane, the service.  Importing this package imports neither Flask nor Celery."""
