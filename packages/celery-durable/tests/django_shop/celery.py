"""The app of the project, laid out as in Celery's guide for Django."""

from celery_durable.contrib.django import DurableCelery

app = DurableCelery("shop")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["django_shop"])
