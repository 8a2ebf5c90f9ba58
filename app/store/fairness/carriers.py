"""The line in which a job waits: the rights of its askers, and the move to the best of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text

from app.domain.carriers import Right
from app.store.accounts.users import ACCOUNT, WITH_PLAN, Account, account_of
from app.store.core.unit_of_work import Tx

#: Counting stops there, as in the answer to an accept.
MOST = 100
#: A parked line is tried this often without a wake, as in the broker.
PROBE_SECONDS = 30.0

_SEEN = text("""
    SELECT m.group_name, m.lease_token IS NULL AS free
      FROM broker_message m WHERE m.task_id = :task_id ORDER BY free LIMIT 1""")
_KEEP = text("SELECT broker_hold(:task_id)")
# Both functions are in sql/carriers.sql.
_TURNS = text("""
    SELECT job_turns(:task_id, r.who, r.queue, r.slots, r.step, :most) AS turns
      FROM unnest(CAST(:who AS text[]), CAST(:queue AS text[]), CAST(:slots AS integer[]), CAST(:step AS integer[]))
           WITH ORDINALITY AS r (who, queue, slots, step, place) ORDER BY r.place""")
_CARRY = text("SELECT carry_job(:task_id, :who, :queue, :most_ready, :step, :probe) AS was")
_CARRIED = text("""
    UPDATE analysis_requests SET carried_at = clock_timestamp()
     WHERE job_id = :job_id AND user_id IS NOT DISTINCT FROM CAST(:user_id AS uuid)""")
# The askers: the payer, unless they left, and the users who joined.  If there are very many: the best tiers, then the
# first.
_ASKERS = text(f"""
    SELECT {ACCOUNT} {WITH_PLAN}
      JOIN analysis_requests r ON r.user_id = u.id
     WHERE r.job_id = :job_id AND r.role IN ('payer', 'joined') AND r.cancelled_at IS NULL
     ORDER BY p.tier DESC, r.id LIMIT :most""")

_STRAY = text("""
    SELECT NOT EXISTS (SELECT FROM analysis_requests r WHERE r.job_id = :job_id AND r.user_id = :user_id
                          AND r.role IN ('payer', 'joined') AND r.cancelled_at IS NULL)""")
_ELSEWHERE = text("""
    SELECT r.job_id FROM analysis_requests r JOIN broker_message m ON m.task_id = CAST(r.job_id AS text)
     WHERE r.user_id = :user_id AND r.role = 'joined' AND m.lease_token IS NULL
       AND m.group_name IS DISTINCT FROM CAST(r.user_id AS text)
     ORDER BY r.id DESC LIMIT :most""")
# Of the waiting jobs, in the order of messages.
_SHARED = text("""
    WITH next AS (
        SELECT id, task_id, group_name FROM broker_message
         WHERE id > :after AND lease_token IS NULL AND unique_key IS NOT NULL
         ORDER BY id LIMIT :most)
    SELECT n.id, n.task_id, EXISTS (
               SELECT FROM analysis_requests r
                WHERE r.job_id = CAST(n.task_id AS uuid)
                  AND (r.role = 'joined' OR (n.group_name IS NULL AND r.user_id IS NOT NULL))) AS shared
      FROM next n ORDER BY n.id""")


@dataclass(frozen=True, slots=True)
class SeenLine:
    """The line of an unfinished job.  carrier: None for the schedule; free: no worker has it, so it may be moved."""

    carrier: UUID | None
    free: bool


def seen(tx: Tx, job_id: UUID) -> SeenLine | None:
    """The line of a job; None if its message is gone."""
    row = tx.run(_SEEN, task_id=str(job_id)).one_or_none()
    return row and SeenLine(UUID(row.group_name) if row.group_name else None, row.free)


def keep(tx: Tx, job_id: UUID) -> None:
    """Keep a job's place from changing.  Locks: its message, after the users rows; claims skip it."""
    tx.write(_KEEP, task_id=str(job_id))


def turns(tx: Tx, job_id: UUID, rights: Sequence[Right]) -> list[float]:
    """How many runs come before the job under each right; infinite on a paused queue, and for the schedule."""
    found = tx.run(
        _TURNS,
        task_id=str(job_id),
        who=[right.user_id and str(right.user_id) for right in rights],
        queue=[right.queue for right in rights],
        slots=[right.slots for right in rights],
        step=[right.step for right in rights],
        most=MOST,
    )
    return [float(row.turns) for row in found]


def carry(tx: Tx, job_id: UUID, right: Right) -> str | None:
    """Move a job that no worker has into the line of a user.  Returns its former state: ready, parked, snooze or retry.

    Locks: its message; the caller has locked the users rows of the old and the new carrier.
    """
    who = right.user_id
    given = {"queue": right.queue, "most_ready": right.most_ready, "step": right.step}
    moved = tx.run(_CARRY, task_id=str(job_id), who=who and str(who), probe=PROBE_SECONDS, **given).one()
    if moved.was is not None:
        tx.write(_CARRIED, job_id=job_id, user_id=who)
    return None if moved.was is None else str(moved.was)


def askers(tx: Tx, job_id: UUID) -> list[Account]:
    """The askers of a job; if there are very many, those with the best tiers."""
    return [account_of(row) for row in tx.run(_ASKERS, job_id=job_id, most=MOST)]


def is_stray(tx: Tx, job_id: UUID, carrier: UUID) -> bool:
    """Whether the carrier of a job has left it."""
    return bool(tx.run(_STRAY, job_id=job_id, user_id=carrier).scalar_one())


def joined_elsewhere(tx: Tx, user_id: UUID) -> list[UUID]:
    """Jobs that a user joined and that wait in another user's line; the newest if there are very many."""
    return list(tx.run(_ELSEWHERE, user_id=user_id, most=MOST).scalars())


def shared(tx: Tx, after: int | None, most: int) -> tuple[list[UUID], int | None]:
    """Waiting jobs among the next messages that somebody joined or whose carrier is gone; the last message.

    None instead of the last message: these were all.
    """
    rows = tx.run(_SHARED, after=after or 0, most=most).all()
    found = [UUID(row.task_id) for row in rows if row.shared]
    return found, rows[-1].id if len(rows) == most else None
