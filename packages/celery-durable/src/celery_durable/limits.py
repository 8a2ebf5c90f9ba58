"""Limits of how often messages of a queue start, over all nodes together.

    limit(connection, "billing", "10/s", task="shop.bill")          # one task, by its name
    limit(connection, "billing", 2.5, tenant="acme", burst=5)       # one tenant; a number is starts in a second
    limit(connection, "billing", "100/m", per_tenant=True)          # each tenant by itself
    unlimit(connection, "billing", task="shop.bill")

What is over a limit waits in the database, where it holds up no other message and no worker.  Each works in the
caller's transaction.  What counts is the delivery to a worker: sql/limits.sql.
"""

from collections.abc import Mapping
from decimal import Decimal
from math import isfinite
from typing import Any, NamedTuple

from .database import runner
from .errors import UnknownQueue
from .names import fill
from .options import read_options

_EXISTS = "SELECT 1 FROM {schema}broker_queue WHERE name = %(queue)s"
_LIMIT = "SELECT {schema}broker_limit(%(queue)s, %(rate)s, %(task)s, %(tenant)s, %(per_tenant)s, %(burst)s)"
_UNLIMIT = "SELECT {schema}broker_unlimit(%(queue)s, %(task)s, %(tenant)s, %(per_tenant)s)"
_LIST = """
    SELECT q.name, l.task, l.tenant, l.per_tenant, l.rate, l.burst, l.waiting
      FROM {schema}broker_limit AS l JOIN {schema}broker_queue AS q ON q.id = l.queue_id
     WHERE %(queue)s::text IS NULL OR q.name = %(queue)s ORDER BY q.name, l.id"""


class Limit(NamedTuple):
    """A limit.  task, tenant: None: of any; rate: starts in a second; waiting: messages, counted up to 10,000."""

    queue: str
    task: str | None
    tenant: str | None
    per_tenant: bool
    rate: float
    burst: int
    waiting: int


def limit(
    connection: Any,
    queue: str,
    rate: str | float,
    *,
    task: str | None = None,
    tenant: str | None = None,
    per_tenant: bool = False,
    burst: int = 1,
    options: Mapping[str, Any] | None = None,
) -> None:
    """Set a limit, or change the one with the same task, tenant and `per_tenant`; with none of them: of the queue.

    rate: "10/s", "100/m", "5/h", or starts in a second; tenant: "" for the messages without one; burst: so many may
    start at once after a pause.  connection, options: as for `producer_in`.
    Locks: the queue's row, and the limit.  Raises: UnknownQueue; ValueError for a burst that is no whole number; the
    driver's error for another value that is none.
    """
    if type(burst) is not int:  # True is one of int
        raise ValueError(f"burst is a whole number from 1 to 10000, not {burst!r}")
    if not _run(connection, _EXISTS, {"queue": queue}, options):
        raise UnknownQueue(queue)
    given = {"queue": queue, "rate": _written(rate), "task": task, "tenant": tenant, "per_tenant": per_tenant}
    _run(connection, _LIMIT, {**given, "burst": burst}, options)


def unlimit(
    connection: Any,
    queue: str,
    *,
    task: str | None = None,
    tenant: str | None = None,
    per_tenant: bool = False,
    options: Mapping[str, Any] | None = None,
) -> bool:
    """Remove a limit; what waits for it is ready soon after the commit.  -> whether there was one.

    connection, options: as for `producer_in`.  Locks: the limit.
    """
    given = {"queue": queue, "task": task, "tenant": tenant, "per_tenant": per_tenant}
    return bool(_run(connection, _UNLIMIT, given, options)[0][0])


def list_limits(connection: Any, queue: str | None = None, *, options: Mapping[str, Any] | None = None) -> list[Limit]:
    """The limits of a queue, or of all.  connection, options: as for `producer_in`.  Locks nothing."""
    return [Limit(*row) for row in _run(connection, _LIST, {"queue": queue}, options)]


def _written(rate: str | float) -> str:
    """A number without an exponent, which 0.00001 has in Python; of what is none the database says so."""
    if isinstance(rate, float) and isfinite(rate):
        return format(Decimal(repr(float(rate))), "f")
    return str(rate)


def _run(
    connection: Any, statement: str, given: Mapping[str, Any], options: Mapping[str, Any] | None
) -> list[tuple[Any, ...]]:
    return runner(connection)(fill(statement, read_options(options or {})), given)
