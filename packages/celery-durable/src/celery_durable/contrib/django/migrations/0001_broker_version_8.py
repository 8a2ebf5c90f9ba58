"""Version 8 of the broker's tables, and the models over its views.

To take it back changes nothing: the tables may hold messages.
"""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models

from celery_durable.contrib.django.aliases import bring_version
from celery_durable.contrib.django.fields import TextArray

VERSION = 8


def bring(_: Any, schema_editor: Any) -> None:
    """Make this version's tables, functions and views."""
    bring_version(schema_editor, VERSION)


class Migration(migrations.Migration):
    """The first one."""

    initial = True
    dependencies = ()
    operations = (
        migrations.RunPython(bring, migrations.RunPython.noop),
        migrations.CreateModel(
            name="BrokerQueue",
            fields=[
                ("id", models.IntegerField(primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=200)),
                ("paused_at", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "broker_queue",
                "managed": False,
            },
        ),
        migrations.CreateModel(
            name="BrokerDeadLetter",
            fields=[
                ("id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("queue", models.TextField(null=True)),
                ("task_id", models.TextField(null=True)),
                ("group_name", models.TextField(null=True)),
                ("unique_key", models.TextField(null=True)),
                ("reason", models.TextField()),
                ("delivery_count", models.IntegerField(null=True)),
                ("lost_count", models.IntegerField(null=True)),
                ("enqueued_at", models.DateTimeField(null=True)),
                ("died_at", models.DateTimeField()),
                ("payload", models.TextField(null=True)),
            ],
            options={
                "verbose_name": "dead letter",
                "db_table": "broker_dead_letter",
                "managed": False,
            },
        ),
        migrations.CreateModel(
            name="BrokerFacts",
            fields=[
                ("queue", models.CharField(max_length=200, primary_key=True, serialize=False)),
                ("paused", models.BooleanField()),
                ("ready", models.BigIntegerField()),
                ("oldest_seconds", models.FloatField()),
                ("leased", models.BigIntegerField()),
                ("delayed", models.BigIntegerField()),
                ("snoozed", models.BigIntegerField()),
                ("parked", models.BigIntegerField()),
                ("dead", models.BigIntegerField()),
                ("estimated", TextArray(base_field=models.TextField(), size=None)),
            ],
            options={
                "verbose_name": "queue",
                "db_table": "broker_facts",
                "managed": False,
            },
        ),
        migrations.CreateModel(
            name="BrokerGroup",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "queue_id", "name", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "queue",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        to="celery_durable.brokerqueue",
                    ),
                ),
                ("name", models.TextField()),
                ("probe_at", models.DateTimeField()),
            ],
            options={
                "verbose_name": "parked tenant",
                "db_table": "broker_group",
                "managed": False,
            },
        ),
        migrations.CreateModel(
            name="BrokerLimit",
            fields=[
                ("id", models.IntegerField(primary_key=True, serialize=False)),
                (
                    "queue",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        to="celery_durable.brokerqueue",
                    ),
                ),
                ("task", models.TextField(null=True)),
                ("tenant", models.TextField(null=True)),
                ("per_tenant", models.BooleanField()),
                ("rate", models.FloatField()),
                ("burst", models.IntegerField()),
                ("waiting", models.BigIntegerField()),
            ],
            options={
                "verbose_name": "limit",
                "db_table": "broker_limit",
                "managed": False,
            },
        ),
        migrations.CreateModel(
            name="BrokerMessage",
            fields=[
                ("id", models.BigIntegerField(primary_key=True, serialize=False)),
                (
                    "queue",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        to="celery_durable.brokerqueue",
                    ),
                ),
                ("task_id", models.TextField(null=True)),
                ("group_name", models.TextField(null=True)),
                ("unique_key", models.TextField(null=True)),
                ("is_ready", models.BooleanField()),
                ("ready_at", models.DateTimeField(null=True)),
                ("delay_reason", models.TextField(null=True)),
                ("rank", models.BigIntegerField(null=True)),
                ("step", models.IntegerField()),
                ("lease_token", models.UUIDField(null=True)),
                ("started_at", models.DateTimeField(null=True)),
                ("delivery_count", models.IntegerField()),
                ("retry_count", models.IntegerField()),
                ("snooze_count", models.IntegerField()),
                ("lost_count", models.IntegerField()),
                ("cancel_requested_at", models.DateTimeField(null=True)),
                ("enqueued_at", models.DateTimeField()),
                ("node_id", models.BigIntegerField(null=True)),
                ("tenant", models.TextField(null=True)),
                ("priority", models.IntegerField()),
            ],
            options={
                "verbose_name": "message",
                "db_table": "broker_message",
                "managed": False,
            },
        ),
        migrations.CreateModel(
            name="BrokerLease",
            fields=[
                (
                    "message",
                    models.OneToOneField(
                        db_column="id",
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="celery_durable.brokermessage",
                    ),
                ),
                (
                    "queue",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        to="celery_durable.brokerqueue",
                    ),
                ),
                ("token", models.UUIDField()),
                ("node_id", models.BigIntegerField(null=True)),
                ("until", models.DateTimeField()),
                ("started_at", models.DateTimeField(null=True)),
            ],
            options={
                "verbose_name": "lease",
                "db_table": "broker_lease",
                "managed": False,
            },
        ),
        migrations.CreateModel(
            name="BrokerReady",
            fields=[
                (
                    "message",
                    models.OneToOneField(
                        db_column="id",
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="celery_durable.brokermessage",
                    ),
                ),
                (
                    "queue",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        to="celery_durable.brokerqueue",
                    ),
                ),
                ("tenant", models.TextField()),
                ("rank", models.BigIntegerField()),
                ("since", models.DateTimeField()),
                ("priority", models.IntegerField()),
            ],
            options={
                "verbose_name": "ready message",
                "db_table": "broker_ready",
                "managed": False,
            },
        ),
        migrations.CreateModel(
            name="BrokerWaiting",
            fields=[
                (
                    "message",
                    models.OneToOneField(
                        db_column="id",
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="celery_durable.brokermessage",
                    ),
                ),
                (
                    "queue",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        to="celery_durable.brokerqueue",
                    ),
                ),
                ("tenant", models.TextField()),
                ("reason", models.TextField()),
                ("due_at", models.DateTimeField(null=True)),
                ("priority", models.IntegerField()),
            ],
            options={
                "verbose_name": "waiting message",
                "db_table": "broker_waiting",
                "managed": False,
            },
        ),
        migrations.CreateModel(
            name="BrokerNode",
            fields=[
                ("id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("name", models.TextField()),
                ("since", models.DateTimeField()),
                ("poll_seconds", models.FloatField(null=True)),
                (
                    "queues",
                    TextArray(base_field=models.TextField(), null=True, size=None),
                ),
                ("prefetch_count", models.IntegerField(null=True)),
                ("is_alive", models.BooleanField()),
                ("seen_at", models.DateTimeField(null=True)),
                ("spare_queues", models.JSONField(null=True)),
            ],
            options={
                "verbose_name": "node",
                "db_table": "broker_node",
                "managed": False,
            },
        ),
    )
