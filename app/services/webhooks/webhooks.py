"""Create, change, rotate and delete the webhooks of an account."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from app.domain.webhooks import EVENTS, MOST_WEBHOOKS, OLD_SECRET_LIVES, parse_url
from app.errors import InvalidInput, Message, NotFound, TooManyWebhooks
from app.services.accounts import check_caller
from app.services.webhooks import signing
from app.services.webhooks.sealing import Keyring
from app.settings import Settings
from app.store.accounts import users
from app.store.core.unit_of_work import UnitOfWork
from app.store.webhooks import webhooks
from app.store.webhooks.webhooks import OWN, Webhook, WebhookFields

NOT_THERE = Message("You have no such webhook")


@dataclass(frozen=True, slots=True)
class Where:
    """Which addresses the operator allows.  ports: of https; allow_loopback: also http to this machine."""

    ports: frozenset[int] = frozenset({443})
    allow_loopback: bool = False

    @classmethod
    def of(cls, settings: Settings) -> Where:
        """The allowed addresses that the settings say."""
        return cls(frozenset(settings.webhook_ports), settings.webhook_loopback)


def list_of(uow: UnitOfWork, user_id: UUID, *, now: datetime) -> list[Webhook]:
    """The user's webhooks, newest first."""
    with uow.once() as tx:
        return [_shown(row, now) for row in webhooks.list_of(tx, user_id)]


def find(uow: UnitOfWork, user_id: UUID, webhook_id: UUID, *, now: datetime) -> Webhook:
    """Find one webhook of the user.  Raises: NotFound."""
    with uow.once() as tx:
        row = webhooks.find(tx, user_id, webhook_id)
    if row is None:
        raise NotFound(NOT_THERE)
    return _shown(row, now)


def add(
    uow: UnitOfWork, user_id: UUID, own: WebhookFields, where: Where, keyring: Keyring,
    *, by: str | None = None, now: datetime,
) -> tuple[Webhook, str]:  # fmt: skip
    """Create a webhook.  Returns: it and its secret, which is never shown again.  own.events: none means all.

    by: as in check_caller.check.  Raises: InvalidInput, TooManyWebhooks, Unauthenticated.  Locks: the users row.
    """
    own, webhook_id, secret = _checked(own, where), uuid4(), signing.new_secret()
    with uow.begin() as tx:
        users.lock_row(tx, user_id)  # two requests cannot both be the last that the limit allows
        check_caller.check(tx, user_id, by, now=now)
        if webhooks.count(tx, user_id) >= MOST_WEBHOOKS:
            raise TooManyWebhooks(
                Message("The account has %(most)s webhooks; delete one that is not needed", most=MOST_WEBHOOKS)
            )
        sealed = keyring.seal(secret, webhook_id)
        webhooks.add(tx, webhook_id, user_id, own, sealed, now=now)
        made = webhooks.find(tx, user_id, webhook_id)
    if made is None:  # we have just added it
        raise NotFound(NOT_THERE)
    return made, signing.shown(secret)


def change(
    uow: UnitOfWork, user_id: UUID, webhook_id: UUID, where: Where, *, now: datetime, enabled: bool | None = None,
    **own: Any,
) -> Webhook:  # fmt: skip
    """Change the given fields of a webhook; enabling forgets the failures.  own: fields of WebhookFields by name.

    Raises: NotFound, InvalidInput, TypeError for another name.  Locks: its row.
    """
    with uow.begin() as tx:
        webhooks.lock(tx, user_id, webhook_id)
        was = webhooks.find(tx, user_id, webhook_id)
        if was is None:
            raise NotFound(NOT_THERE)
        fields = replace(WebhookFields(*(getattr(was, name) for name in OWN)), **own)
        is_enabled = was.enabled if enabled is None else enabled
        webhooks.change(tx, webhook_id, _checked(fields, where, given=own), enabled=is_enabled, now=now)
        row = webhooks.find(tx, user_id, webhook_id)
    if row is None:  # we hold its lock
        raise NotFound(NOT_THERE)
    return _shown(row, now)


def rotate(uow: UnitOfWork, user_id: UUID, webhook_id: UUID, keyring: Keyring, *, now: datetime) -> str:
    """A new secret; the old one signs as well for a day.  Returns: the new one.  Raises: NotFound.  Locks: its row."""
    secret = signing.new_secret()
    with uow.begin() as tx:
        old = webhooks.lock(tx, user_id, webhook_id)
        if old is None:
            raise NotFound(NOT_THERE)
        sealed = keyring.seal(secret, webhook_id)
        webhooks.rotate(tx, webhook_id, sealed, old, until=now + OLD_SECRET_LIVES)
    return signing.shown(secret)


def remove(uow: UnitOfWork, user_id: UUID, webhook_id: UUID) -> None:
    """Delete it with its log.  Raises: NotFound."""
    with uow.begin() as tx:
        if not webhooks.drop(tx, user_id, webhook_id):
            raise NotFound(NOT_THERE)


def check_url(url: str, where: Where) -> None:
    """Refuse an address that could never be posted to.  Raises: InvalidInput."""
    try:
        parse_url(url, ports=where.ports, allow_loopback=where.allow_loopback)
    except ValueError as error:
        message = Message("The address of a webhook: %(why)s.", why=error.args[0])
        raise InvalidInput(message, errors=[{"pointer": "/url", "detail": str(error)}]) from None


def _chosen(events: Sequence[str]) -> list[str]:
    """Put chosen events in the order of the rules, each once; all events if none is chosen.  Raises: InvalidInput."""
    unknown = [one for one in events if one not in EVENTS]
    if unknown:
        expected = f"expected events such as {EVENTS[0]}"
        raise InvalidInput(
            Message("There is no event %(event)s.", event=repr(unknown[0])),
            errors=[{"pointer": "/events", "detail": expected}],
        )
    return [one for one in EVENTS if one in events] or list(EVENTS)


def _checked(own: WebhookFields, where: Where, *, given: Container[str] = OWN) -> WebhookFields:
    """Check new fields, and put all events for none.  given: names of new fields.  Raises: InvalidInput."""
    if "url" in given:
        check_url(own.url, where)
    return replace(own, events=_chosen(own.events)) if "events" in given else own


def _shown(row: Webhook, now: datetime) -> Webhook:
    """Leave out the end of a previous secret that signs no more."""
    is_over = row.old_secret_until is not None and row.old_secret_until <= now
    return replace(row, old_secret_until=None) if is_over else row
