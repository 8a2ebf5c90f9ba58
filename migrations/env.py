"""Runs migrations: one host at a time (advisory lock), each in one transaction, never waiting long for a table lock."""

from __future__ import annotations

import os

from alembic import context
from sqlalchemy import Connection, create_engine, pool, text

LOCK = 0x6661_6972  # "fair"; any constant that nothing else locks


def migrate(connection: Connection) -> None:
    """Bring the database of `connection` to the newest schema, waiting for a host that is doing so already."""
    # however long the other host needs: the engine's own time-out for locks counts advisory ones too
    connection.execute(text("SET lock_timeout = 0"))
    connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": LOCK})
    # a migration that cannot get its table lock in 4 s gives up instead of stopping every query queued behind it
    connection.execute(text("SET lock_timeout = '4s'"))
    connection.execute(text("SET statement_timeout = '60s'"))
    connection.commit()
    try:
        context.configure(connection=connection, transaction_per_migration=True)
        with context.begin_transaction():
            context.run_migrations()
    finally:
        connection.rollback()
        connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": LOCK})
        # the connection may go back to a pool
        connection.execute(text("RESET lock_timeout"))
        connection.execute(text("RESET statement_timeout"))
        connection.commit()


def main() -> None:
    """Use the caller's connection, or DATABASE_URL for the `alembic` command."""
    if (given := context.config.attributes.get("connection")) is not None:
        migrate(given)
        return
    engine = create_engine(os.environ["DATABASE_URL"], poolclass=pool.NullPool)
    with engine.connect() as connection:
        migrate(connection)


main()
