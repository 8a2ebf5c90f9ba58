"""Operate on whole queues: stop and resume their delivery, and move a tenant's messages to another queue.

    pause(connection, "billing")                        # no worker gets a message of it from the commit on
    resume(connection, "billing")
    move(connection, "acme", "billing", "billing_slow")     # "" are the messages without a tenant

Each works in the caller's transaction.  Publishing to a paused queue continues.
"""

from collections.abc import Mapping
from typing import Any

from .database import runner
from .errors import UnknownQueue
from .facts import GroupFacts, group_facts
from .names import fill
from .options import read_options

_EXISTS = "SELECT 1 FROM {schema}broker_queue WHERE name = %(queue)s"
_PAUSE = "SELECT {schema}broker_pause(%(queue)s)"
_RESUME = "SELECT {schema}broker_resume(%(queue)s)"
_MOVE = "SELECT {schema}broker_move(%(group)s, %(old)s, %(new)s)"


def pause(connection: Any, queue: str, *, options: Mapping[str, Any] | None = None) -> None:
    """Stop the delivery of a queue; what runs goes on, and a queue that is paused already stays so.

    connection, options: as for `producer_in`.  Locks: the queue.  Raises: UnknownQueue.
    """
    _require(connection, queue, options)
    _run(connection, _PAUSE, {"queue": queue}, options)


def resume(connection: Any, queue: str, *, options: Mapping[str, Any] | None = None) -> None:
    """Resume the delivery of a queue; its workers are notified when the caller commits.

    connection, options: as for `producer_in`.  Locks: the queue.  Raises: UnknownQueue.
    """
    _require(connection, queue, options)
    _run(connection, _RESUME, {"queue": queue}, options)


def move(
    connection: Any, group: str, old: str, new: str, *, options: Mapping[str, Any] | None = None
) -> GroupFacts | None:
    """Move the waiting messages of a tenant to another queue.  -> what of it remains on the old one, or None.

    Running messages remain, and those whose task has a message on the new queue already.  A tenant that is parked is
    parked on the new queue.  connection, options: as for `producer_in`.
    Locks: the group on both queues; its messages, skipping locked ones.  Raises: UnknownQueue.
    """
    for queue in (old, new):
        _require(connection, queue, options)
    _run(connection, _MOVE, {"group": group, "old": old, "new": new}, options)
    left = group_facts(connection, old, group=group, options=options)
    return next((facts for facts in left if facts.ready or facts.leased or facts.delayed or facts.parked), None)


def _require(connection: Any, queue: str, options: Mapping[str, Any] | None) -> None:
    if not _run(connection, _EXISTS, {"queue": queue}, options):
        raise UnknownQueue(queue)


def _run(
    connection: Any, statement: str, given: Mapping[str, Any], options: Mapping[str, Any] | None
) -> list[tuple[Any, ...]]:
    return runner(connection)(fill(statement, read_options(options or {})), given)
