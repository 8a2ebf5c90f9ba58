"""A durable Celery and kombu transport over PostgreSQL: no other broker, nothing lost, nothing polled in anger.

    import celery_durable                                   # registers the alias `durable`
    broker_url = "durable://USER:PASSWORD@HOST:PORT/DB?sslmode=require"    # or durable+postgresql+psycopg2://…
    task_acks_late = task_reject_on_worker_lost = True    # at least once; without them a running task may be lost

The tables and functions are in `sql/`; `schema.upgrade(connection)` creates them, and brings older ones up to date.  A
stock `sqla+postgresql` producer may publish to them.

Options (`broker_transport_options`; an unknown one is an error): `lease_seconds` 15, `heartbeat_seconds` 3,
`poll_seconds` 5, `max_deliveries` 5, `dead_letter_days` 90, `queue_order` "round_robin" or "strict" (in the order of
`-Q`), `spare_queues` {} (read only while so many of the node's processes stay free of them), `listen` True,
`direct_url` None, and `schema` None (of the tables).  `options.py` says what each does.

Publishing.  One statement.  Headers: `tenant` → column tenant, `unique_key` → at most one message holds it, else
DuplicateKey with the task id of the one that is there.  `eta` and `countdown` wait in the table, counted by the
database's clock.  The same task id again on the same queue is no second message and no error; a task that an exchange
routes to several queues has a message on each.  In your own transaction:
`publish.producer_in(connection)`; many at once: `template.send_many`, or with kombu 5.7 `with producer.batch():`.  With
that kombu a group of Celery's canvas, chunks and the header of a chord are one commit by themselves: all of it is
there, or nothing.

Order.  Fair between groups (the header `tenant`; without one, all such messages are one group): a group's tenth waiting
message comes after the first ones of the others, however many it has.  The header `weight` (0.001 to 100, default 1) is
its share.  Inside a group first come, first served.  A group at its limit is parked and woken: `park.py`; with the
header `most_ready` already by its publishers, so that it costs nobody anything however much of it waits.

Delivery.  The request carries `lease_token`, `delivery_count`, `retry_count`, `snooze_count`, `lost_count` and
`requested_eta` (`self.request.lease_token`).  Fence your writes: `messages.fence` holds the
message under its token in your transaction.
Started deliveries whose process or node died are counted in `lost_count`, those of any task; what is handed back,
snoozes, is rejected with requeue by its task, or only waited on a node, is not.  After `max_deliveries` losses the
message becomes a dead letter, as do a rejected one and one that cannot be read (`kombu_dead_letter.reason`: `lost`,
`rejected`, `undecodable`).  It stays for `dead_letter_days`.
A start is marked in `started_at`: by the node's heartbeat, by the process itself for a message that came back before,
or by your code, if it must be exact for a first delivery that takes its whole node along within a heartbeat.  Code that
deletes its message in a commit of its own may call `settled()` on it instead of `ack()`: nothing more is written, and
no claim waits for it.  `returned()` gives it back without a count.

Retry.  `Task.retry` updates the leased row in place.  With `snooze=True` it counts as a snooze, not as a retry:
`self.retry(countdown=30, snooze=True)`; with `park=True` its whole group waits until it is woken.  A retry whose lease
is no longer valid changes nothing; a task without late acknowledgement has none, and retries as another message.
Published again from elsewhere than its running task, without the token in its headers, it is refused with
LeaseTokenMissing.

Fan-out.  Remote control (`celery inspect`, `control`), events (Flower) and `kombu.common.Broadcast` work.  A queue that
is exclusive or auto_delete is a subscription of its process: from its declaration on it gets what is sent to its
exchange, a copy of its own, without lease, count or redelivery, also while the window is full.  A message whose
exchange has no stored queue bound in the sender's process is a row of `kombu_broadcast`, for its `expiration` or 60 s.
Of a topic exchange, and events are one, a row is written only while a reader has announced itself.  A worker needs no
second session for any of it.  With `listen` False a worker looks with its poll, so give `inspect` a `--timeout` above
`poll_seconds`; a process that only subscribes looks every 0.2 s.  Celery itself switches gossip and mingle off.

TLS and failover.  `broker_use_ssl` is translated for libpq, or refused: `tls.py`.  A list of broker URLs is refused;
several hosts stand in one URL: `durable://me@a:5432,b:5432/shop?target_session_attrs=read-write`.

Revoke.  Each worker that hears it deletes what waits of the task.  `inspect scheduled` is empty: delays are rows.

Secrets.  What kombu and Celery can show of a connection (`as_uri`, `info`, `inspect stats`, Flower) has no password:
the transport takes it out of the URL and of `direct_url` and keeps it to itself.  For settings, which Celery prints
without asking any transport, `hide(url)` gives such a URL, good in this process and in those it forks.

Operators.  `dead_letters.list_dead`, `redrive` and `drop`; `facts.queue_facts` and `group_facts`, exact up to 10,000
and estimates beyond, in milliseconds whatever waits.  As SQL: `SELECT * FROM broker_facts`.
Statements of your own use the views and functions of `sql/interface.sql` and `sql/moving.sql`, and no table.
"""

from contextlib import suppress
from importlib.util import find_spec

from kombu.transport import TRANSPORT_ALIASES

from .addresses import hide
from .errors import BadOption, DuplicateKey, LeaseTokenMissing, MissingTables
from .one_commit import publish_canvas_in_one_commit

__all__ = ["BadOption", "DuplicateKey", "LeaseTokenMissing", "MissingTables", "hide"]

#: kombu takes a name up to the first `+` of a URL; whole, where it takes the URL apart.
for _name in ("durable", "durable+postgresql", "durable+postgresql+psycopg2"):
    TRANSPORT_ALIASES[_name] = f"{__name__}.transport:Transport"
TRANSPORT_ALIASES["durable-django"] = f"{__name__}.contrib.django.transport:DjangoTransport"

if find_spec("celery"):
    with suppress(ImportError):  # a folder of that name
        publish_canvas_in_one_commit()
