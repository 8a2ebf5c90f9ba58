"""Dead letters: look at them, put them back on their queues, or drop them.

    for letter in list_dead(connection, queue="billing"): print(letter.id, letter.reason, letter.payload)
    redrive(connection, [12, 13])                    # or all of a queue, or of a reason, or all: redrive(connection)
    drop(connection, reason="undecodable")

Each works in the caller's transaction, and consumers are notified when that commits.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from .database import Run, runner
from .statements import Statements, cached_statements

#: Characters of a payload that are shown, unless the whole is asked for.
CUT = 200


class DeadLetter(NamedTuple):
    """A message the broker gave up.

    reason: `undecodable`, `rejected` or `lost`; lost_count: started deliveries whose worker died; payload_size: bytes;
    payload: the message as kombu wrote it, perhaps only its begin.
    """

    id: int
    queue: str | None
    task_id: str | None
    user_id: str | None
    unique_key: str | None
    reason: str
    delivery_count: int | None
    lost_count: int | None
    enqueued_at: datetime | None
    died_at: datetime
    payload_size: int | None
    payload: str | None


class Redriven(NamedTuple):
    """What became of letters.

    put: ids of those that are messages again.  kept: ids of those that stay dead, and why: `in the way`, a message with
    the same task id or unique key is there, or `no queue`.
    """

    put: list[int]
    kept: dict[int, str]


def list_dead(
    connection: Any,
    ids: Sequence[int] | None = None,
    *,
    queue: str | None = None,
    reason: str | None = None,
    before: int | None = None,
    most: int = 100,
    whole: bool = False,
    options: Mapping[str, Any] | None = None,
) -> list[DeadLetter]:
    """The newest first.  before: the last id of the page before; whole: payloads uncut, however large.

    connection, options: as of `producer_in`.
    """
    given = {**_chosen(ids, queue, reason), "before": before, "most": most, "whole": whole, "cut": CUT}
    return [DeadLetter(*row) for row in runner(connection)(cached_statements(options).list_dead, given)]


def redrive(
    connection: Any,
    ids: Sequence[int] | None = None,
    *,
    queue: str | None = None,
    reason: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Redriven:
    """Put letters back as new messages, oldest first: ready, or parked with their group.

    Task id, tenant, unique key, weight, priority and payload are as they were, counts begin anew.  A letter that
    somebody else redrives or drops just now is left to them, and in neither list.
    ids: None for all of the queue and the reason, or all.  connection, options: as of `producer_in`.
    Locks: the letters; waits for an uncommitted holder of the same task id or unique key.
    """
    run, sql = runner(connection), cached_statements(options)
    done = Redriven([], {})
    for batch in _batches(run, sql, _chosen(ids, queue, reason)):
        for letter_id, outcome in run(sql.redrive, {"ids": batch}):
            if outcome == "redriven":
                done.put.append(letter_id)
            else:
                done.kept[letter_id] = outcome
    return done


def drop(
    connection: Any,
    ids: Sequence[int] | None = None,
    *,
    queue: str | None = None,
    reason: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> list[int]:
    """Delete letters for good.  -> ids of those that were there.  Arguments as of `redrive`.  Locks: the letters."""
    run, sql = runner(connection), cached_statements(options)
    batches = _batches(run, sql, _chosen(ids, queue, reason))
    return [row[0] for batch in batches for row in run(sql.drop_dead, {"ids": batch})]


def _chosen(ids: Sequence[int] | None, queue: str | None, reason: str | None) -> dict[str, Any]:
    return {"ids": None if ids is None else list(ids), "queue": queue, "reason": reason}


def _batches(run: Run, sql: Statements, chosen: Mapping[str, Any]) -> Iterator[list[int]]:
    after = 0
    while batch := [row[0] for row in run(sql.next_dead, {**chosen, "after": after})]:
        yield batch
        after = batch[-1]
