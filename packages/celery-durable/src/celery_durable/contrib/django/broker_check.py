"""A check of Django's: whether `.delay()` can join transactions at all."""

from typing import Any

from celery import current_app
from django.core.checks import CheckMessage, Error
from django.core.checks import Warning as CheckWarning

from celery_durable.addresses import reason
from celery_durable.transport import Transport

from .aliases import databases_of
from .joining import DurableCelery


def check_broker(**_: Any) -> list[CheckMessage]:
    """Look at the broker of the current app: an error if it cannot be used, warnings if messages join no transaction.

    Nothing of it raises: the check is there for settings that are wrong.
    """
    try:
        connection = current_app.connection_for_write()
        if not issubclass(connection.get_transport_cls(), Transport):
            return []
        connection.transport  # noqa: B018  reads the URL and the options
        found = databases_of(current_app)
    except Exception as error:  # noqa: BLE001  of whatever transport, and of settings of any kind
        why = reason(error, current_app.conf.broker_write_url)
        return [Error(f"The broker of the Celery app cannot be used: {why}", id="celery_durable.E001")]
    return [*_joins(found), *_is_durable(current_app)]


def _joins(found: list[str]) -> list[CheckMessage]:
    hint = "Set the broker URL to durable-django://ALIAS."
    if not found:
        text = "The broker is none of DATABASES, so .delay() joins no transaction."
        return [CheckWarning(text, hint=hint, id="celery_durable.W001")]
    if len(found) > 1:
        text = f"The broker may be each of {', '.join(found)}: .delay() joins the one with an open transaction."
        return [CheckWarning(text, hint=hint, id="celery_durable.W003")]
    return []


def _is_durable(app: Any) -> list[CheckMessage]:
    if isinstance(app, DurableCelery) or isinstance(getattr(app, "_get_current_object", lambda: app)(), DurableCelery):
        return []
    text = "The Celery app is no DurableCelery, so .delay() joins no transaction."
    hint = "Make the app with celery_durable.contrib.django.DurableCelery, and import it in the project's __init__.py."
    return [CheckWarning(text, hint=hint, id="celery_durable.W002")]
