"""At which migration the database is."""

from __future__ import annotations

from sqlalchemy import Connection, text

from app.store.session import Session

_MIGRATED = text("SELECT to_regclass('alembic_version') IS NOT NULL")
_REVISION = text("SELECT version_num FROM alembic_version")


def revision(connection: Connection | Session) -> str | None:
    """The newest migration that ran; None before the first."""
    if not connection.execute(_MIGRATED).scalar_one():
        return None
    found: str | None = connection.execute(_REVISION).scalar_one_or_none()
    return found
