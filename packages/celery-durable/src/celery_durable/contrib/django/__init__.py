"""The broker in a Django project: tables by `migrate`, an admin, and `.delay()` in the open transaction.

    INSTALLED_APPS = [..., "celery_durable.contrib.django"]
    CELERY_BROKER_URL = "durable-django://default"          # the database that Django knows by this alias

    from celery_durable.contrib.django import DurableCelery     # in the project's celery.py, in place of Celery
    app = DurableCelery("shop")
    app.config_from_object("django.conf:settings", namespace="CELERY")

    with transaction.atomic():
        order.save()
        bill.delay(order.pk)            # the message exists when the block commits; after a rollback there is none

It works with psycopg2 and psycopg 3 below Django; the sessions of workers are psycopg2's in any case.
"""

from .joining import DurableCelery, DurableTask, alone

__all__ = ["DurableCelery", "DurableTask", "alone"]
