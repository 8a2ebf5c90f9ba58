"""Runs migrations: one host at a time (advisory lock), never waiting long for a table lock.

Each is one transaction, but for what takes long, which runs outside of it (`migrations/online.py`, docs/adr/0044).
"""

from __future__ import annotations

import time

from alembic import context
from alembic.runtime.migration import MigrationContext, MigrationInfo
from sqlalchemy import Connection, create_engine, pool, text
from sqlalchemy.engine import make_url

from app.errors import BadSetting
from app.migrate import refuse_folded
from app.rights import grants
from app.version import VERSION

LOCK = 0x6661_6972  # "fair"; any constant that nothing else locks
WAIT_SECONDS = 0.2
FIRST_WITH_VERSION = "0057"


def migrate(connection: Connection, role: str | None) -> None:
    """Bring the database of `connection` to the newest schema, waiting for a host that is doing so already.

    role: the application's; it gets its rights, unless it is the one that migrates.
    """
    _lock(connection)
    # queries queue up behind a migration that waits for its table lock: it gives up, and `migrate` tries it again
    connection.execute(text("SET lock_timeout = '1s'"))
    connection.execute(text("SET statement_timeout = '60s'"))
    # between two statements Python loads the migrations, which takes seconds on a starved host
    connection.execute(text("SET idle_in_transaction_session_timeout = '60s'"))
    connection.commit()
    try:
        refuse_folded(connection)
        context.configure(connection=connection, transaction_per_migration=True, on_version_apply=_note_version)
        with context.begin_transaction():
            context.run_migrations()
        _give_rights(connection, role)
    finally:
        connection.rollback()
        connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": LOCK})
        # the connection may go back to a pool
        connection.execute(text("RESET lock_timeout"))
        connection.execute(text("RESET statement_timeout"))
        connection.execute(text("RESET idle_in_transaction_session_timeout"))
        connection.commit()


def _note_version(*, ctx: MigrationContext, step: MigrationInfo, **_: object) -> None:
    """Store which release brought the schema, in the transaction of the migration."""
    if step.is_upgrade and str(step.up_revision_id) >= FIRST_WITH_VERSION:
        ctx.connection.execute(text("UPDATE schema_support SET version = :version"), {"version": VERSION})


def _lock(connection: Connection) -> None:
    """Wait for another host, however long it needs; asking again and again.

    A statement that waits would hold a snapshot, and the index that the other host is building would wait for it.
    """
    while not connection.execute(text("SELECT pg_try_advisory_lock(:key)"), {"key": LOCK}).scalar_one():
        connection.commit()
        time.sleep(WAIT_SECONDS)
    connection.commit()


def _give_rights(connection: Connection, role: str | None) -> None:
    if role is None or role == connection.execute(text("SELECT current_user")).scalar_one():
        return
    if not connection.execute(text("SELECT FROM pg_roles WHERE rolname = :role"), {"role": role}).all():
        raise BadSetting(f"DATABASE_URL: the database has no role {role!r}; make it as docs/operating.md says")
    connection.exec_driver_sql(grants(role).replace("%", "%%"))  # as the driver reads it
    connection.commit()


def main() -> None:
    """Use the caller's connection, or for the `alembic` command that of the settings."""
    if (given := context.config.attributes.get("connection")) is not None:
        migrate(given, context.config.attributes.get("role"))
        return
    # `fairlane migrate` has read them already
    from app.database import database_url, owner_url  # noqa: PLC0415
    from app.settings import load  # noqa: PLC0415

    settings = load()
    engine = create_engine(owner_url(settings), poolclass=pool.NullPool, hide_parameters=True)
    with engine.connect() as connection:
        migrate(connection, make_url(database_url(settings)).username)


main()
