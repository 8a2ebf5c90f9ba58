"""Whether the service can work: whether everything is there that it needs."""

from __future__ import annotations

from sqlalchemy.exc import SQLAlchemyError

from app.domain.queues import ALL_QUEUES
from app.store import queue_facts
from app.store.unit_of_work import UnitOfWork


def readiness(uow: UnitOfWork, needed_revision: str) -> dict[str, str]:
    """Per need `ok` or what is wrong: database, migrations, queues."""
    checks = dict.fromkeys(("database", "migrations", "queues"), "not checked")
    try:
        with uow.begin() as tx:
            revision = queue_facts.schema_revision(tx)
            checks["database"] = "ok"
            checks["migrations"] = (
                "ok" if revision == needed_revision else f"at {revision}, needed is {needed_revision}"
            )
            missing = sorted(set(ALL_QUEUES) - set(queue_facts.names(tx))) if revision else list(ALL_QUEUES)
            checks["queues"] = f"missing {', '.join(missing)}" if missing else "ok"
    except SQLAlchemyError as error:
        checks["database"] = f"away ({type(error).__name__})"
    return checks


def holdings(uow: UnitOfWork) -> list[tuple[str, str, float]]:
    """(name, what it counts, value) of what is held now, over all users."""
    with uow.begin() as tx:
        row = queue_facts.totals(tx)
    return [
        ("slots_taken", "Execution slots in use", float(row.slots)),
        ("snoozed_messages", "Messages over their user's limit", float(row.snoozed)),
        ("reserved_units", "Quota units reserved by unfinished jobs", float(row.reserved)),
        ("dead_letters", "Messages given up", float(row.dead)),
    ]
