"""Tasks of the shop; each run is a row."""

from celery import shared_task
from celery_durable.messages import delete, fence, start
from django.db import connection, transaction

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


@shared_task(bind=True)
def holds_its_message(self, name):
    """Send the message again within the block that holds it: NAME says how."""
    message = self.request.id, self.request.lease_token
    with transaction.atomic():
        assert fence(connection, *message)
        if not self.request.retries:
            if name == "starts":
                start(connection, *message)
            if name == "deletes":
                delete(connection, *message)
            if name == "replaces":
                self.replace(bill.si("replaces"))
            failure = self.retry(countdown=0, throw=name not in {"commits", "fails"})
            Run.objects.create(name="commits, first", saw_the_order=False)
            if name == "fails":
                raise failure
            return
        Run.objects.create(name=name, saw_the_order=False)
