"""The message of a running task: hold it under its lease, mark it started, end it in a commit of your own.

    if not fence(session, self.request.id, self.request.lease_token):
        raise Ignore                                # the lease is lost: somebody else has the task, so write nothing
    session.add(bill)
    delete(session, self.request.id, self.request.lease_token)
    session.commit()                                # the bill is there exactly once

Each is one statement in the caller's transaction.  A `retry` before its end takes `producer=producer_in(session)`: sent
otherwise, it would wait for this very transaction, without an end.  In Django a `DurableCelery` sends it after the run.

The token says which message it is: a task that an exchange routed to several queues has one on each.  In SQL of your
own: the view `broker_message` (sql/interface.sql).
"""

from collections.abc import Mapping
from typing import Any

from .database import runner
from .statements import cached_statements


def fence(connection: Any, task_id: str, lease_token: str, *, options: Mapping[str, Any] | None = None) -> bool:
    """Hold a message under this very lease until the end of the transaction; False: the lease is lost.

    lease_token: `self.request.lease_token`.  connection, options: as of `producer_in`.  Locks: the message.
    """
    given = {"task_id": task_id, "lease_token": lease_token}
    return bool(runner(connection)(cached_statements(options).fence, given))


def start(connection: Any, task_id: str, lease_token: str, *, options: Mapping[str, Any] | None = None) -> None:
    """From this commit on the delivery counts as lost when its worker dies.  The caller holds the fence."""
    runner(connection)(cached_statements(options).start, {"task_id": task_id, "lease_token": lease_token})


def delete(connection: Any, task_id: str, lease_token: str, *, options: Mapping[str, Any] | None = None) -> None:
    """End a message; what its worker acknowledges later changes nothing.  The caller holds the fence."""
    runner(connection)(cached_statements(options).delete, {"task_id": task_id, "lease_token": lease_token})
