"""Send commands to nodes by Celery's remote control."""

from __future__ import annotations

from collections.abc import Sequence

from celery_durable import hide
from kombu import Connection
from kombu.pidbox import Mailbox

from app.services.operations.drain import Tell

#: Of Celery's setting `control_exchange`, which is the default.
EXCHANGE = "celery"


def teller(database_url: str) -> Tell:
    """The function that sends a command of tasks/draining.py.  It keeps no connection."""

    def tell(command: str, nodes: Sequence[str]) -> None:
        with Connection(f"durable+{hide(database_url)}") as connection:
            mailbox = Mailbox(EXCHANGE, type="fanout", connection=connection, serializer="json")
            mailbox.abcast(command, {"nodes": list(nodes)})

    return tell
