"""Note that jobs were accepted: in their timelines, with the request behind them, and in the log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from app import origins
from app.domain.jobs import EventFacts
from app.store.core.unit_of_work import Tx
from app.store.jobs import events
from app.store.jobs.requests import Request


class Accepted(NamedTuple):
    """An accepted job.  units: reserved; facts: of its event."""

    request: Request
    units: int
    facts: EventFacts


def note_accepts(tx: Tx, accepted: Sequence[Accepted]) -> None:
    """Append the event of each accept, and write a line for each when the transaction has committed.

    The ids of the request behind them are kept in the event, from where webhooks take them.
    """
    behind = _behind()
    events.add_each(tx, "accepted", {one.request.job_id: {**one.facts, **behind} for one in accepted})
    for request, units, _ in accepted:
        where = request.codebase.repository
        facts = {
            "job_id": str(request.job_id),
            "tenant": str(request.user_id) if request.user_id else None,
            "queue": request.queue,
            "tier": request.tier.value if request.tier else None,
            "units": units,
            "repository": f"{where.host}/{where.owner}/{where.name}",
        }
        tx.log("accepted", **{name: fact for name, fact in facts.items() if fact is not None})


def _behind() -> dict[str, str]:
    origin = origins.current()
    if origin is None:
        return {}
    ids = {"request_id": origin.request_id, "traceparent": origin.traceparent}
    return {name: value for name, value in ids.items() if value is not None}
