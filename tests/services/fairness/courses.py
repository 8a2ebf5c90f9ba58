"""Jobs whose times in the timeline are chosen: events carry the database's clock, which no test can move."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from tests.conftest import World

TELL = """
    INSERT INTO job_events (job_id, at, event)
    SELECT :job_id, :at, :event RETURNING id"""


def lived(world: World, user_id: UUID, accepted: float, *events: tuple[float, str]) -> UUID:
    """A job that was accepted so many seconds after the world's time, and what happened to it then."""
    job_id = world.submit(user_id)
    world.rows("DELETE FROM job_events WHERE job_id = :job_id RETURNING id", job_id=job_id)
    tell(world, job_id, (accepted, "accepted"), *events)
    return job_id


def ran(world: World, user_id: UUID, accepted: float, started: float, ended: float) -> UUID:
    """As lived, of one that completed at its first attempt."""
    return lived(world, user_id, accepted, (started, "started"), (ended, "completed"))


def tell(world: World, job_id: UUID, *events: tuple[float, str]) -> None:
    """More of what happened to a job."""
    for seconds, event in events:
        world.rows(TELL, job_id=job_id, at=at(world, seconds), event=event)


def at(world: World, seconds: float) -> datetime:
    """So many seconds after the world's time."""
    return world.now + timedelta(seconds=seconds)
