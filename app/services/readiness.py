"""Whether the service can work: whether everything is there that it needs."""

from __future__ import annotations

from sqlalchemy.exc import SQLAlchemyError

from app.domain.queues import ALL_QUEUES
from app.store import queues, schema
from app.store.unit_of_work import UnitOfWork


def readiness(uow: UnitOfWork, needed_revision: str) -> dict[str, str]:
    """Per need `ok` or what is wrong: database, migrations, queues."""
    checks = dict.fromkeys(("database", "migrations", "queues"), "not checked")
    try:
        with uow.begin() as tx:
            revision = schema.revision(tx.connection)
            checks["database"] = "ok"
            checks["migrations"] = (
                "ok" if revision == needed_revision else f"at {revision}, needed is {needed_revision}"
            )
            missing = sorted(set(ALL_QUEUES) - set(queues.names(tx))) if revision else list(ALL_QUEUES)
            checks["queues"] = f"missing {', '.join(missing)}" if missing else "ok"
    except SQLAlchemyError as error:
        checks["database"] = f"away ({type(error).__name__})"
    return checks
