"""A check of Django's: whether `.delay()` can join transactions at all."""

from typing import Any

from celery import current_app
from django.core.checks import Warning as CheckWarning

from celery_durable.transport import Transport

from .aliases import database_of


def check_broker(**_: Any) -> list[CheckWarning]:
    """Warn of a durable broker that is none of DATABASES: its messages are in no transaction of Django's."""
    connection = current_app.connection_for_write()
    if not issubclass(connection.get_transport_cls(), Transport) or database_of(current_app):
        return []
    return [
        CheckWarning(
            "The broker is none of DATABASES, so .delay() joins no transaction.",
            hint="Set the broker URL to durable-django://ALIAS.",
            id="celery_durable.W001",
        )
    ]
