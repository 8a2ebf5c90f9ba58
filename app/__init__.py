"""Fairlane, the service.  Importing this package pulls in neither Flask nor Celery."""
