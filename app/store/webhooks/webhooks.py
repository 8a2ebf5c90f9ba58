"""The webhooks of users."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

_COLUMNS = """id, user_id, url, description, events, created_at, disabled_at, disabled_because, failures, failing_since,
       paused_until, old_secret_until"""
_LIST = text(f"SELECT {_COLUMNS} FROM webhooks WHERE user_id = :user_id ORDER BY created_at DESC, id")
_FIND = text(f"SELECT {_COLUMNS} FROM webhooks WHERE id = :id AND user_id = :user_id")
_COUNT = text("SELECT count(*) FROM webhooks WHERE user_id = :user_id")
_ADD = text("""
    INSERT INTO webhooks (id, user_id, url, description, events, secret, created_at)
    VALUES (:id, :user_id, :url, :description, :events, :secret, :now)""")
# Enabling a webhook forgets its failures: its owner says that it works.
_CHANGE = text("""
    UPDATE webhooks SET url = :url, description = :description, events = :events,
           disabled_at = CASE WHEN :enabled THEN NULL ELSE coalesce(disabled_at, :now) END,
           disabled_because = CASE WHEN :enabled THEN NULL ELSE coalesce(disabled_because, 'owner') END,
           failures = CASE WHEN :enabled AND (disabled_at IS NOT NULL OR url <> :url) THEN 0 ELSE failures END,
           failing_since = CASE WHEN :enabled AND (disabled_at IS NOT NULL OR url <> :url) THEN NULL
                                ELSE failing_since END,
           paused_until = CASE WHEN :enabled AND (disabled_at IS NOT NULL OR url <> :url) THEN NULL
                               ELSE paused_until END
     WHERE id = :id""")
_LOCK = text("SELECT secret FROM webhooks WHERE id = :id AND user_id = :user_id FOR NO KEY UPDATE")
_ROTATE = text("UPDATE webhooks SET secret = :secret, old_secret = :old, old_secret_until = :until WHERE id = :id")
_DROP = text("DELETE FROM webhooks WHERE id = :id AND user_id = :user_id")
# How an attempt ended.  A webhook that its owner has disabled meanwhile stays so.
_SUCCEEDED = text("""
    UPDATE webhooks SET failures = 0, failing_since = NULL, paused_until = NULL
     WHERE id = :id AND (failures > 0 OR paused_until IS NOT NULL)""")
_FAILED = text("""
    UPDATE webhooks SET failures = failures + 1, failing_since = coalesce(failing_since, :now),
           paused_until = :paused_until,
           disabled_because = CASE WHEN disabled_at IS NOT NULL THEN disabled_because WHEN :gone THEN 'gone'
                                   WHEN failing_since < :patient_since THEN 'failing' END,
           disabled_at = CASE WHEN disabled_at IS NOT NULL THEN disabled_at
                              WHEN :gone OR failing_since < :patient_since THEN :now END
     WHERE id = :id""")


class WebhookRow(NamedTuple):
    """A webhook without its secrets."""

    id: UUID
    user_id: UUID
    url: str
    description: str
    events: list[str]
    created_at: datetime
    disabled_at: datetime | None
    disabled_because: str | None
    failures: int
    failing_since: datetime | None
    paused_until: datetime | None
    old_secret_until: datetime | None


def count(tx: Tx, user_id: UUID) -> int:
    """How many webhooks the user has."""
    return int(tx.run(_COUNT, user_id=user_id).scalar_one())


def list_of(tx: Tx, user_id: UUID) -> list[WebhookRow]:
    """The user's webhooks, newest first, without their secrets."""
    return tx.run(_LIST, user_id=user_id).values(WebhookRow)


def find(tx: Tx, user_id: UUID, webhook_id: UUID) -> WebhookRow | None:
    """One of them, None if the user has no such webhook."""
    return tx.run(_FIND, id=webhook_id, user_id=user_id).value_or_none(WebhookRow)


def add(
    tx: Tx, webhook_id: UUID, user_id: UUID, url: str, description: str, events: Sequence[str], secret: bytes,
    *, now: datetime,
) -> None:  # fmt: skip
    """Add one.  secret: encrypted."""
    parameters = {"id": webhook_id, "user_id": user_id, "url": url, "description": description, "now": now}
    tx.write(_ADD, events=list(events), secret=secret, **parameters)


def change(
    tx: Tx, webhook_id: UUID, url: str, description: str, events: Sequence[str], *, enabled: bool, now: datetime
) -> None:
    """Replace what its owner decides.  The caller has found it."""
    parameters = {"id": webhook_id, "url": url, "description": description, "now": now}
    tx.write(_CHANGE, events=list(events), enabled=enabled, **parameters)


def lock(tx: Tx, user_id: UUID, webhook_id: UUID) -> bytes | None:
    """The encrypted secret; None if the user has no such webhook.  Locks: its row."""
    found = tx.run(_LOCK, id=webhook_id, user_id=user_id).one_or_none()
    return None if found is None else bytes(found.secret)


def rotate(tx: Tx, webhook_id: UUID, secret: bytes, old: bytes, *, until: datetime) -> None:
    """Replace the secret; the old one signs as well until then."""
    tx.write(_ROTATE, id=webhook_id, secret=secret, old=old, until=until)


def drop(tx: Tx, user_id: UUID, webhook_id: UUID) -> bool:
    """Delete it with its log.  Returns: whether the user had it."""
    return tx.run(_DROP, id=webhook_id, user_id=user_id).rowcount == 1


def succeeded(tx: Tx, webhook_id: UUID) -> None:
    """Forget earlier failures."""
    tx.write(_SUCCEEDED, id=webhook_id)


def failed(
    tx: Tx, webhook_id: UUID, *, gone: bool, paused_until: datetime, patient_since: datetime, now: datetime
) -> None:
    """Count a failure.  gone: the receiver wants nothing any more; patient_since: failing for longer disables it."""
    parameters = {"gone": gone, "paused_until": paused_until, "patient_since": patient_since, "now": now}
    tx.write(_FAILED, id=webhook_id, **parameters)
