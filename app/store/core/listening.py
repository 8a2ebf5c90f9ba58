"""Whether a connection is a session of its own, in which LISTEN and locks last, or one of a transaction pooler's."""

from __future__ import annotations

import select
from secrets import token_hex
from typing import Any

from sqlalchemy import Engine, text

from app.store.core.session import session

_NOTIFY = text("SELECT pg_notify(:channel, '')")


def hears(listener: Engine, notifier: Engine, *, seconds: float) -> bool:
    """Whether a notification reaches a connection of `listener` that listens since an earlier transaction.

    seconds: how long to wait for it.  Raises: SQLAlchemyError.
    """
    channel = f"fairlane_doctor_{token_hex(8)}"
    with listener.connect() as opened:
        try:
            connection: Any = opened.connection.driver_connection
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(f"LISTEN {channel}")
            with session(notifier, once=True) as other:
                other.execute(_NOTIFY, {"channel": channel})
            ready, _, _ = select.select([connection], [], [], seconds)
            connection.poll()
            return bool(ready) and any(notify.channel == channel for notify in connection.notifies)
        finally:
            opened.invalidate()  # it listens, and nobody else should get it
