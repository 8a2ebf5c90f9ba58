"""Transactions that were prepared and are not ended yet."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

_POSSIBLE = text("SELECT CAST(current_setting('max_prepared_transactions') AS integer) > 0")
_EXISTS = text("""
    SELECT EXISTS (SELECT FROM pg_prepared_xacts WHERE gid = :name AND database = current_database())""")


def is_possible(tx: Tx) -> bool:
    """Whether the server keeps prepared transactions."""
    return bool(tx.run(_POSSIBLE).scalar_one())


def exists(tx: Tx, name: str) -> bool:
    """Whether a transaction of this name is prepared in this database."""
    return bool(tx.run(_EXISTS, name=name).scalar_one())


def name_of(user_id: UUID, epoch: int) -> str:
    """The name of the transaction in which an account leaves a cell."""
    return f"fairlane-move-{user_id}-{epoch}"
