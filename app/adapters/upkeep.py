"""Look after the broker's queues from a process that is no node of it."""

from __future__ import annotations

import time

from celery_durable import upkeep

from app.store.core.unit_of_work import UnitOfWork


def take_back(uow: UnitOfWork) -> bool:
    """Take back what dead nodes and ended leases hold, and make ready what is due, as any node does.

    False: the server has just started, and its nodes may not be back yet.  Locks: those of a node's poll.
    """
    for left in (1, 0):
        with uow.begin() as tx:
            if not upkeep.look(tx.connection):
                return False
        if left:
            time.sleep(upkeep.SECONDS)  # a node is judged by two looks, so far apart
    return True
