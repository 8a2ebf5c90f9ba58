"""Publishing many messages at once: one INSERT for a thousand.

    with producer.batch():                      # kombu's own; any tasks, built by Celery one by one
        for order in orders:
            bill.apply_async((order,), producer=producer)
    send_many(connection, app, "shop.bill", [((order,), {}) for order in orders], queue="billing")   # one task

`producer` is `producer_in(connection)`, or one of the transport, whose batches are transactions of their own.
`send_many` builds the message once: several times as many a second, and Celery's signals are sent once for all.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from .envelope import Letter
from .post import LETTERS, put_many
from .publish import cached_statements, runner
from .template import Template


def send_many(
    connection: Any,
    app: Any,
    name: str,
    calls: Iterable[tuple[Sequence[Any], Mapping[str, Any]]],
    *,
    broker_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> list[str]:
    """Send one task many times, in the transaction of `connection`.  -> the tasks' ids, in the order of `calls`.

    calls: (args, kwargs) of each; connection, broker_options: as of `producer_in`; options: those of `app.send_task`,
    the same for all.  Raises what `put` does; roll back in that case.
    """
    run, sql = runner(connection), cached_statements(broker_options)
    template = Template(app, name, options)
    ids: list[str] = []
    letters: list[Letter] = []
    for args, kwargs in calls:
        ids.append(str(uuid4()))
        letters.append(template.fill(ids[-1], args, kwargs))
        if len(letters) >= LETTERS:
            put_many(run, sql, letters)
            letters.clear()
    put_many(run, sql, letters)
    return ids
