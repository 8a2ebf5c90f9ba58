"""One run at a time receives a queue: two would take each other's batches for those of a run that has died."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import psycopg2

from celery_durable.database import Run, runner
from celery_durable.errors import AlreadyReceived

#: Advisory locks of the session, so that they go with the process: of this name and of a source and queue.
RECEIVING = "durable receiving"
_LOCK = "SELECT pg_try_advisory_lock(hashtext(%(receiving)s), %(what)s)"
_UNLOCK = "SELECT pg_advisory_unlock(hashtext(%(receiving)s), %(what)s)"


@contextmanager
def only_run(connection: Any, source: str, queues: Sequence[str], schema: str) -> Iterator[None]:
    """Keep other runs away from queues of a source while the block runs.

    connection: psycopg2's, without an open transaction.  Raises AlreadyReceived.
    """
    run = runner(connection)
    with ExitStack() as stack:
        for queue in sorted({*queues}):
            what = {"receiving": RECEIVING, "what": _number(f"{schema}\n{source}\n{queue}")}
            with connection:
                [(is_free,)] = run(_LOCK, what)
            if not is_free:
                raise AlreadyReceived(queue)
            stack.callback(_unlock, connection, run, what)
        yield


def _number(text: str) -> int:
    """The second number of a lock, made here: the name of a source may be a URL, and servers log what they are sent."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], signed=True)


def _unlock(connection: Any, run: Run, what: dict[str, Any]) -> None:
    with suppress(psycopg2.Error), connection:  # a session that has ended has no locks
        run(_UNLOCK, what)
