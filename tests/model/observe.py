"""What the real tables say of each job, in the words of the model; and whether a step of a service is one of the model's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from tests.conftest import World
from tests.model.job import Hold, Holder, Job, Message, Others, Payer, Record, Slot, seen_by_others
from tests.model.steps import STEPS, Effect, Move, Rules, apply_to_another, carry

_LOOK = """
    SELECT r.job_id, r.user_id AS payer, CAST(m.user_id AS uuid) AS carrier, r.commit_sha, r.cancelled_at, j.joiners, m.id AS place, m.visible,
           m.lease_token, m.started_at, m.delay_reason, m.retry_count + m.lost_count AS spent, m.cancel_requested_at,
           CAST(a.status AS text) AS record, a.started_at AS first_started_at, q.expires_at, s.lease_token AS slot_token,
           (SELECT coalesce(sum(quota_amount), 0) FROM usage_events u WHERE u.job_id = r.job_id) AS billed
      FROM analysis_requests r
      LEFT JOIN kombu_message m ON m.task_id = CAST(r.job_id AS text)
      LEFT JOIN analyses a ON a.id = r.job_id
      LEFT JOIN quota_reservations q ON q.job_id = r.job_id
      LEFT JOIN execution_slots s ON s.job_id = r.job_id
     CROSS JOIN LATERAL (SELECT coalesce(array_agg(o.user_id), '{}') AS joiners FROM analysis_requests o
                          WHERE o.job_id = r.job_id AND o.role = 'joined' AND o.cancelled_at IS NULL) j
     WHERE r.role = 'payer' ORDER BY r.id"""


@dataclass(frozen=True)
class Seen:
    """place: in the order of messages; token: of the lease; expires_at: of the reservation; first_started_at: of the record.

    carrier: in whose line it is, None when it has ended.
    """

    job: Job
    payer: UUID
    commit: str
    joiners: frozenset[UUID]
    place: int | None
    token: UUID | None
    expires_at: datetime | None
    first_started_at: datetime | None
    carrier: UUID | None = None

    @property
    def line(self) -> UUID:
        """Whose slots and whose waiting jobs its steps meet."""
        return self.carrier or self.payer


#: All jobs that anybody ever asked for.
Sight = Mapping[UUID, Seen]


def look(world: World) -> dict[UUID, Seen]:
    """Every job as the tables show it at the world's now."""
    return {row["job_id"]: _seen(row, world.now) for row in world.rows(_LOOK)}  # type: ignore[misc]


def _seen(row: Mapping[str, Any], now: datetime) -> Seen:
    message = _message(row)
    record = Record(row["record"] or (Record.CANCELLED if row["cancelled_at"] and not row["place"] else Record.NONE))
    asked_for_the_end = row["cancel_requested_at"] is not None
    job = Job(
        message=message,
        record=record,
        payer=Payer.LEFT if row["cancelled_at"] else Payer.QUIT if asked_for_the_end else Payer.PAYS,
        reservation=_hold(row["expires_at"], now),
        slot=_slot(row),
        spent=row["spent"] or 0,
        billed=int(row["billed"]),
        joined=bool(row["joiners"]),
        cancelling=asked_for_the_end,
        away=row["carrier"] not in (None, row["payer"]),
    )
    return Seen(
        job,
        row["payer"],
        row["commit_sha"],
        frozenset(row["joiners"]),
        row["place"],
        row["lease_token"],
        row["expires_at"],
        row["first_started_at"],
        row["carrier"],
    )


def later(sight: Sight, now: datetime) -> dict[UUID, Seen]:
    """The same when nothing has happened since but that time has passed."""
    return {
        job_id: replace(seen, job=seen.job.but(reservation=_hold(seen.expires_at, now)))
        for job_id, seen in sight.items()
    }


def _hold(expires_at: datetime | None, now: datetime) -> Hold:
    return Hold.NONE if expires_at is None else Hold.AGED if expires_at < now else Hold.FRESH


def _message(row: Mapping[str, Any]) -> Message:
    if row["place"] is None:
        return Message.NONE
    if row["lease_token"]:
        return Message.STARTED if row["started_at"] else Message.LEASED
    if row["visible"]:
        return Message.READY
    held = {"snooze": Message.SNOOZED, "parked": Message.SNOOZED, "retry": Message.BACKOFF}
    return held[row["delay_reason"]]


def _slot(row: Mapping[str, Any]) -> Slot:
    if row["slot_token"] is None:
        return Slot.NONE
    return Slot.LIVE if row["slot_token"] == row["lease_token"] else Slot.DEAD


def shown(job: Job) -> Job:
    """As much of a job of the model as tables can show: no workers, and of an end no way there."""
    payer = Payer.LEFT if job.payer is Payer.QUIT and job.ended else job.payer
    away, spent = (False, 0) if job.ended else (job.away, job.spent)
    return job.but(holder=Holder.NONE, early=0, late=0, payer=payer, away=away, spent=spent)


def pictures(sight: Sight) -> dict[UUID, Job]:
    """Every job, as much as tables can show."""
    return {job_id: shown(seen.job) for job_id, seen in sight.items()}


def woken(sight: Sight, user: UUID, most: int = 1) -> list[UUID]:
    """Whom a wake makes ready: the oldest snoozed jobs in the user's line."""
    asleep = [(seen.place, job_id) for job_id, seen in sight.items()
              if seen.line == user and seen.job.message is Message.SNOOZED]  # fmt: skip
    return [job_id for _, job_id in sorted(asleep)[:most]]


def followed(
    before: Sight, after: Sight, job_id: UUID, step: str, rules: Rules, *, units: int = 0, holder: Holder = Holder.ALIVE
) -> str:
    """Which move of the model a service made; fails when it is none of them.

    units: that the payer has used and reserved; holder: of the job's lease, which no table tells.
    """
    line = before[job_id].line if job_id in before else after[job_id].payer
    for move in moves(before, line, job_id, step, replace(rules, there=True), units=units, holder=holder):
        if expected(before, line, job_id, move) == pictures(after):
            return move.label
    changed = {j: (str(before[j].job) if j in before else None, str(seen.job)) for j, seen in after.items()
               if j not in before or before[j].job != seen.job}  # fmt: skip
    raise AssertionError(f"no {step} of the model does this to {job_id}: {changed}")


def moves(
    before: Sight, line: UUID, job_id: UUID, step: str, rules: Rules, *, units: int, holder: Holder
) -> Iterator[Move]:
    """Where the model may go from what was seen."""
    siblings = (seen.job.but(away=False) for j, seen in before.items() if j != job_id and seen.line == line)
    sums = (sum(column) for column in zip(Others(), *map(seen_by_others, siblings), strict=True))
    job = replace(before[job_id]).job.but(holder=holder) if job_id in before else Job()
    return STEPS[step](job, Others(*sums)._replace(units=units), rules)


def expected(before: Sight, line: UUID, job_id: UUID, move: Move) -> dict[UUID, Job]:
    """Every job after a move: its own, and those of the line it was in that its effect meets."""
    after = pictures(before) | {job_id: shown(move.job)}
    met = {other for other, seen in before.items() if other != job_id and seen.line == line}
    fills = move.effect is Effect.FILL
    for effect in (Effect.DROP_LEFTOVERS, Effect.WAKE) if fills else (move.effect,):
        rest = {other: seen for other, seen in before.items() if other != job_id}
        for other in met & set(woken(rest, line)) if effect is Effect.WAKE else met:
            there = after[other].but(away=False)
            after[other] = (apply_to_another(effect, there) or there).but(away=after[other].away)
    return after


def settled(before: Sight, after: Sight, jobs: Sequence[UUID]) -> Iterator[Sight]:
    """All jobs once these have moved, in turn, into the lines where `after` shows them; one for each way it may go."""
    if not jobs:
        yield before
        return
    for moved in _carried(before, after, jobs[0]):
        yield from settled(moved, after, jobs[1:])


def _carried(before: Sight, after: Sight, job_id: UUID) -> Iterator[Sight]:
    """All jobs once this one has moved, ready or parked; a line that a ready job leaves wakes its oldest."""
    seen, line = before[job_id], after[job_id].line
    if line == seen.line:
        yield before
        return
    for move in carry(seen.job, "", away=line != seen.payer):
        sight = {**before, job_id: replace(seen, job=move.job, carrier=line)}
        for other in woken(sight, seen.line) if move.effect is Effect.WAKE else ():
            sight[other] = replace(sight[other], job=sight[other].job.but(message=Message.READY))
        yield sight
