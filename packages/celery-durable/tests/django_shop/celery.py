"""As Celery's guide for Django has it."""

from celery_durable.contrib.django import DurableCelery

app = DurableCelery("shop")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["django_shop"])
