"""The webhooks of users."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx


@dataclass(frozen=True, slots=True)
class WebhookFields:
    """The fields that the owner of a webhook decides, by the names of the columns.  events: each once."""

    url: str
    description: str
    events: Sequence[str]


#: The names of these columns; the statements below are made of them, so a further column is a further field.
OWN = tuple(field.name for field in fields(WebhookFields))


@dataclass(frozen=True, slots=True)
class Webhook(WebhookFields):
    """A webhook without its secret.

    disabled_because: owner, gone or failing, None while it is enabled; failures: in a row; old_secret_until: until when
    the previous secret signs as well.
    """

    id: UUID
    user_id: UUID
    created_at: datetime
    disabled_at: datetime | None
    disabled_because: str | None
    failures: int
    failing_since: datetime | None
    paused_until: datetime | None
    old_secret_until: datetime | None

    @property
    def enabled(self) -> bool:
        """Whether the webhook receives events."""
        return self.disabled_at is None


_COLUMNS = ", ".join(field.name for field in fields(Webhook))
_LIST = text(f"SELECT {_COLUMNS} FROM webhooks WHERE user_id = :user_id ORDER BY created_at DESC, id")
_FIND = text(f"SELECT {_COLUMNS} FROM webhooks WHERE id = :id AND user_id = :user_id")
_COUNT = text("SELECT count(*) FROM webhooks WHERE user_id = :user_id")
_ADD = text(f"""
    INSERT INTO webhooks (id, user_id, secret, created_at, {", ".join(OWN)})
    VALUES (:id, :user_id, :secret, :now, {", ".join(f":{name}" for name in OWN)})""")
# Enabling a webhook forgets its failures: its owner says that it works.
_CHANGE = text(f"""
    UPDATE webhooks SET {", ".join(f"{name} = :{name}" for name in OWN)},
           disabled_at = CASE WHEN :enabled THEN NULL ELSE coalesce(disabled_at, :now) END,
           disabled_because = CASE WHEN :enabled THEN NULL ELSE coalesce(disabled_because, 'owner') END,
           failures = CASE WHEN :enabled AND (disabled_at IS NOT NULL OR url <> :url) THEN 0 ELSE failures END,
           failing_since = CASE WHEN :enabled AND (disabled_at IS NOT NULL OR url <> :url) THEN NULL
                                ELSE failing_since END,
           paused_until = CASE WHEN url <> :url THEN NULL ELSE paused_until END
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


def count(tx: Tx, user_id: UUID) -> int:
    """How many webhooks the user has."""
    return int(tx.run(_COUNT, user_id=user_id).scalar_one())


def list_of(tx: Tx, user_id: UUID) -> list[Webhook]:
    """The user's webhooks, newest first, without their secrets."""
    return tx.run(_LIST, user_id=user_id).values(Webhook)


def find(tx: Tx, user_id: UUID, webhook_id: UUID) -> Webhook | None:
    """Find one webhook of the user; None if the user has no such webhook."""
    return tx.run(_FIND, id=webhook_id, user_id=user_id).value_or_none(Webhook)


def add(tx: Tx, webhook_id: UUID, user_id: UUID, own: WebhookFields, secret: bytes, *, now: datetime) -> None:
    """Add a webhook.  secret: encrypted."""
    tx.write(_ADD, id=webhook_id, user_id=user_id, secret=secret, now=now, **_values(own))


def change(tx: Tx, webhook_id: UUID, own: WebhookFields, *, enabled: bool, now: datetime) -> None:
    """Replace a webhook's fields that its owner decides.  The caller has found the webhook."""
    tx.write(_CHANGE, id=webhook_id, enabled=enabled, now=now, **_values(own))


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


def _values(own: WebhookFields) -> dict[str, object]:
    return {name: getattr(own, name) for name in OWN} | {"events": list(own.events)}
