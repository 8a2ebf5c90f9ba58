"""Models over the views of the SQL interface, to be read only.

    BrokerWaiting.objects.filter(queue__name="billing", reason="eta").order_by("due_at").values("message__task_id")

Who looks for messages of a state begins with BrokerReady, BrokerWaiting or BrokerLease, which have indexes for that.
What changes a queue or a dead letter is in `queues` and `dead_letters`; both take Django's connection.
"""

from typing import Any

from django.db import NotSupportedError, models

from .aliases import default_alias
from .fields import TextArray

REFUSAL = "the broker's views are read only: use celery_durable.queues and celery_durable.dead_letters"


class ReadOnlyQuerySet(models.QuerySet):
    """Rows that can be looked at."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise NotSupportedError(REFUSAL)

    update = delete = bulk_create = bulk_update = _refuse


class BrokerManager(models.Manager.from_queryset(ReadOnlyQuerySet)):  # type: ignore[misc]
    """The rows of the database that is the broker."""

    def get_queryset(self) -> Any:
        """The rows of the broker's database, or of the one that `using` names."""
        return super().get_queryset().using(self._db or default_alias())


class BrokerView(models.Model):
    """A row of a view."""

    objects = BrokerManager()

    class Meta:
        abstract = True

    def save(self, *_: Any, **__: Any) -> None:
        """Raise NotSupportedError."""
        raise NotSupportedError(REFUSAL)

    def delete(self, *_: Any, **__: Any) -> Any:
        """Raise NotSupportedError."""
        raise NotSupportedError(REFUSAL)


class BrokerQueue(BrokerView):
    """A queue.  paused_at: since when no worker gets a message of it."""

    id = models.IntegerField(primary_key=True)
    name = models.CharField(max_length=200)
    paused_at = models.DateTimeField(null=True)

    class Meta:
        managed = False
        db_table = "broker_queue"

    def __str__(self) -> str:
        return str(self.name)


class BrokerFacts(BrokerView):
    """A queue, counted.  estimated: the names of the numbers that are estimates."""

    queue = models.CharField(max_length=200, primary_key=True)
    paused = models.BooleanField()
    ready = models.BigIntegerField()
    oldest_seconds = models.FloatField()
    leased = models.BigIntegerField()
    delayed = models.BigIntegerField()
    snoozed = models.BigIntegerField()
    parked = models.BigIntegerField()
    dead = models.BigIntegerField()
    estimated = TextArray(models.TextField())

    class Meta:
        managed = False
        db_table = "broker_facts"
        verbose_name = "queue"

    def __str__(self) -> str:
        return str(self.queue)


class BrokerMessage(BrokerView):
    """A message; what its columns mean is in the README's section on the SQL interface."""

    id = models.BigIntegerField(primary_key=True)
    queue = models.ForeignKey(BrokerQueue, models.DO_NOTHING, db_constraint=False)
    task_id = models.TextField(null=True)
    group_name = models.TextField(null=True)
    unique_key = models.TextField(null=True)
    is_ready = models.BooleanField()
    ready_at = models.DateTimeField(null=True)
    delay_reason = models.TextField(null=True)
    rank = models.BigIntegerField(null=True)
    step = models.IntegerField()
    lease_token = models.UUIDField(null=True)
    started_at = models.DateTimeField(null=True)
    delivery_count = models.IntegerField()
    retry_count = models.IntegerField()
    snooze_count = models.IntegerField()
    lost_count = models.IntegerField()
    cancel_requested_at = models.DateTimeField(null=True)
    enqueued_at = models.DateTimeField()
    node_id = models.BigIntegerField(null=True)
    tenant = models.TextField(null=True)
    priority = models.IntegerField()

    class Meta:
        managed = False
        db_table = "broker_message"
        verbose_name = "message"

    def __str__(self) -> str:
        return f"{self.task_id or self.id}"


class BrokerState(BrokerView):
    """Where a message stands; its column `id` is the message's."""

    message = models.OneToOneField(
        BrokerMessage, models.DO_NOTHING, primary_key=True, db_column="id", db_constraint=False, related_name="+"
    )
    queue = models.ForeignKey(BrokerQueue, models.DO_NOTHING, db_constraint=False)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return str(self.pk)


class BrokerReady(BrokerState):
    """A message that a worker may get.  tenant: "" for none."""

    tenant = models.TextField()
    rank = models.BigIntegerField()
    since = models.DateTimeField()
    priority = models.IntegerField()

    class Meta:
        managed = False
        db_table = "broker_ready"
        verbose_name = "ready message"


class BrokerWaiting(BrokerState):
    """A message that waits.  reason: `eta`, `retry`, `snooze`, `parked` or `limited`; due_at: None for the last two."""

    tenant = models.TextField()
    reason = models.TextField()
    due_at = models.DateTimeField(null=True)
    priority = models.IntegerField()

    class Meta:
        managed = False
        db_table = "broker_waiting"
        verbose_name = "waiting message"


class BrokerLease(BrokerState):
    """A delivery that is not over.  node_id: None for a node without a lock; started_at: None until its task runs."""

    token = models.UUIDField()
    node_id = models.BigIntegerField(null=True)
    until = models.DateTimeField()
    started_at = models.DateTimeField(null=True)

    class Meta:
        managed = False
        db_table = "broker_lease"
        verbose_name = "lease"


class BrokerLimit(BrokerView):
    """A limit of starts.  task, tenant: None: of any; rate: starts in a second; waiting: messages, up to 10,000."""

    id = models.IntegerField(primary_key=True)
    queue = models.ForeignKey(BrokerQueue, models.DO_NOTHING, db_constraint=False)
    task = models.TextField(null=True)
    tenant = models.TextField(null=True)
    per_tenant = models.BooleanField()
    rate = models.FloatField()
    burst = models.IntegerField()
    waiting = models.BigIntegerField()

    class Meta:
        managed = False
        db_table = "broker_limit"
        verbose_name = "limit"

    def __str__(self) -> str:
        return str(self.id)


class BrokerGroup(BrokerView):
    """A parked tenant of a queue.  probe_at: when one of its messages is woken in any case."""

    pk = models.CompositePrimaryKey("queue_id", "name")
    queue = models.ForeignKey(BrokerQueue, models.DO_NOTHING, db_constraint=False)
    name = models.TextField()
    probe_at = models.DateTimeField()

    class Meta:
        managed = False
        db_table = "broker_group"
        verbose_name = "parked tenant"

    def __str__(self) -> str:
        return str(self.name)


class BrokerDeadLetter(BrokerView):
    """A message that the broker gave up.  reason: `undecodable`, `rejected` or `lost`."""

    id = models.BigIntegerField(primary_key=True)
    queue = models.TextField(null=True)
    task_id = models.TextField(null=True)
    group_name = models.TextField(null=True)
    unique_key = models.TextField(null=True)
    reason = models.TextField()
    delivery_count = models.IntegerField(null=True)
    lost_count = models.IntegerField(null=True)
    enqueued_at = models.DateTimeField(null=True)
    died_at = models.DateTimeField()
    payload = models.TextField(null=True)

    class Meta:
        managed = False
        db_table = "broker_dead_letter"
        verbose_name = "dead letter"

    def __str__(self) -> str:
        return f"{self.id}: {self.task_id}"


class BrokerNode(BrokerView):
    """A worker node.  seen_at: when its session last did something."""

    id = models.BigIntegerField(primary_key=True)
    name = models.TextField()
    since = models.DateTimeField()
    poll_seconds = models.FloatField(null=True)
    queues = TextArray(models.TextField(), null=True)
    prefetch_count = models.IntegerField(null=True)
    is_alive = models.BooleanField()
    seen_at = models.DateTimeField(null=True)
    spare_queues = models.JSONField(null=True)

    class Meta:
        managed = False
        db_table = "broker_node"
        verbose_name = "node"

    def __str__(self) -> str:
        return str(self.name)
