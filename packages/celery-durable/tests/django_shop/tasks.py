"""Tasks of the shop; each run is a row."""

from celery import shared_task
from django.db import transaction

from .models import Order, Run


@shared_task
def bill(name):
    Run.objects.create(name=name, saw_the_order=Order.objects.filter(name=name).exists())


@shared_task(bind=True)
def retries(self, name):
    """Raise Retry within a block that this rolls back."""
    with transaction.atomic():
        if not self.request.retries:
            raise self.retry(countdown=0)
    Run.objects.create(name=name, saw_the_order=False)


@shared_task(bind=True)
def is_replaced(self, name):
    """Raise Ignore within a block that this rolls back; the replacement is two messages, one after the other."""
    with transaction.atomic():
        self.replace(bill.si(name) | bill.si(f"{name}, again"))
