"""A small Django project, which the tests of `celery_durable.contrib.django` run in processes of their own."""

from .celery import app

__all__ = ["app"]
