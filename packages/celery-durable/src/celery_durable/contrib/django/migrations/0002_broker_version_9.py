"""Version 9 of the broker's tables: two keys are the newest indexes of their tables.

To take it back changes nothing: the version before works with these tables.
"""

from typing import Any

from django.db import migrations

from celery_durable.contrib.django.aliases import bring_version

VERSION = 9


def bring(_: Any, schema_editor: Any) -> None:
    """Make this version's tables, functions and views."""
    bring_version(schema_editor, VERSION)


class Migration(migrations.Migration):
    """The models stay as they are."""

    dependencies = (("celery_durable", "0001_broker_version_8"),)
    operations = (migrations.RunPython(bring, migrations.RunPython.noop),)
