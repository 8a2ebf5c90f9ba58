"""The Celery side of the service: tasks unpack their message, call one service and return."""
