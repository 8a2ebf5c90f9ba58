"""A field of the models, without a project."""

import pytest
from celery_durable.contrib.django.fields import TextArray
from django.contrib.postgres.fields import ArrayField
from django.core.checks import Error
from django.db import models


def test_an_array_needs_no_app_of_django_and_is_checked_for_all_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Django 6.0 has the first error for each ArrayField of a project without `django.contrib.postgres`."""
    found = [
        Error("'django.contrib.postgres' must be in INSTALLED_APPS", id="postgres.E005"),
        Error("x", id="fields.E1"),
    ]
    monkeypatch.setattr(ArrayField, "check", lambda self, **given: found)
    assert [error.id for error in TextArray(models.TextField()).check()] == ["fields.E1"]
