"""The app of INSTALLED_APPS."""

from django.apps import AppConfig
from django.core import checks

from .broker_check import check_broker


class DurableConfig(AppConfig):
    """The app `celery_durable`: its migrations, models and admin."""

    name = "celery_durable.contrib.django"
    label = "celery_durable"
    verbose_name = "Celery broker"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the check."""
        checks.register(check_broker)
