"""The replica that the settings name."""

from __future__ import annotations

from app.settings import Settings
from app.store.core import schema
from app.store.core.connections import make_engine
from app.store.core.replica import Replica


def open_replica(settings: Settings, *, application_name: str, pool_size: int, logs: bool = True) -> Replica | None:
    """The standby of DATABASE_READ_URL; None if everything is read from the primary.  Opens no connection yet.

    logs: whether its faults are logged.
    """
    if settings.database_read_url is None:
        return None
    engine = make_engine(
        settings.database_read_url.get_secret_value(),
        pool_size=pool_size,
        overflow=0,
        application_name=application_name,
        statement_seconds=settings.statement_timeout.total_seconds(),
        is_replica=True,
    )
    return Replica(engine, schema.needed(), logs=logs)
