"""Fields of the models that Django has not got like this."""

from typing import Any

from django.contrib.postgres.fields import ArrayField

#: From Django 6.0 on an error: `django.contrib.postgres` is not among the installed apps.
NOT_INSTALLED = "postgres.E005"


class TextArray(ArrayField):
    """An ArrayField that does without the app: it is only read, and its lookups come with the class."""

    def check(self, **given: Any) -> list[Any]:
        """Check all but whether the app is installed, which a project would need for nothing else of ours."""
        return [found for found in super().check(**given) if found.id != NOT_INSTALLED]
