"""Turns of webhooks: at most one of each account is under way, in all processes together."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

_CLAIM = text("SELECT webhooks_claim(:most, :seconds)")
_END = text("UPDATE webhooks SET turn_until = clock_timestamp() WHERE id = :id")


def claim(tx: Tx, most: int, *, seconds: float) -> list[UUID]:
    """Begin a turn of a webhook for each of at most that many accounts with something due.

    seconds: after that the turn counts as over, because its worker died.  Returns: the webhooks.
    Locks: the advisory lock of all claims, then the rows of these webhooks.
    """
    return list(tx.run(_CLAIM, most=most, seconds=seconds).scalars())


def end(tx: Tx, webhook_id: UUID) -> None:
    """End a webhook's turn, so that its account may get another one."""
    tx.write(_END, id=webhook_id)
