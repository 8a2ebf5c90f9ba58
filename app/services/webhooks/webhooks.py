"""Create, change, rotate and delete the webhooks of an account."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
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
from app.store.webhooks.webhooks import WebhookRow

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


@dataclass(frozen=True, slots=True)
class Webhook:
    """A webhook without its secret.

    disabled_because: owner, gone or failing, None while it is enabled; failures: in a row; old_secret_until: until when
    the previous secret signs as well.
    """

    id: UUID
    url: str
    description: str
    events: Sequence[str]
    created_at: datetime
    disabled_at: datetime | None
    disabled_because: str | None
    failures: int
    failing_since: datetime | None
    old_secret_until: datetime | None

    @property
    def enabled(self) -> bool:
        """Whether it is told of events."""
        return self.disabled_at is None


def list_of(uow: UnitOfWork, user_id: UUID, *, now: datetime) -> list[Webhook]:
    """The user's webhooks, newest first."""
    with uow.once() as tx:
        return [_webhook(row, now) for row in webhooks.list_of(tx, user_id)]


def find(uow: UnitOfWork, user_id: UUID, webhook_id: UUID, *, now: datetime) -> Webhook:
    """One of them.  Raises: NotFound."""
    with uow.once() as tx:
        row = webhooks.find(tx, user_id, webhook_id)
    if row is None:
        raise NotFound(NOT_THERE)
    return _webhook(row, now)


def add(
    uow: UnitOfWork, user_id: UUID, url: str, events: Sequence[str], description: str, where: Where, keyring: Keyring,
    *, by: str | None = None, now: datetime,
) -> tuple[Webhook, str]:  # fmt: skip
    """Create one.  Returns: and its secret, which is never shown again.  events: none means all.

    by: as in credentials.check.  Raises: InvalidInput, TooManyWebhooks, Unauthenticated.  Locks: the users row.
    """
    check_url(url, where)
    chosen, webhook_id, secret = _chosen(events), uuid4(), signing.new_secret()
    with uow.begin() as tx:
        users.lock_row(tx, user_id)  # two requests cannot both be the last that the limit allows
        check_caller.check(tx, user_id, by, now=now)
        if webhooks.count(tx, user_id) >= MOST_WEBHOOKS:
            raise TooManyWebhooks(
                Message("The account has %(most)s webhooks; delete one that is not needed", most=MOST_WEBHOOKS)
            )
        sealed = keyring.seal(secret, webhook_id)
        webhooks.add(tx, webhook_id, user_id, url, description, chosen, sealed, now=now)
    made = Webhook(webhook_id, url, description, chosen, now, None, None, 0, None, None)
    return made, signing.shown(secret)


def change(
    uow: UnitOfWork, user_id: UUID, webhook_id: UUID, where: Where, *, now: datetime, url: str | None = None,
    events: Sequence[str] | None = None, description: str | None = None, enabled: bool | None = None,
) -> Webhook:  # fmt: skip
    """Change what is given; enabling forgets the failures.  Raises: NotFound, InvalidInput.  Locks: its row."""
    if url is not None:
        check_url(url, where)
    with uow.begin() as tx:
        webhooks.lock(tx, user_id, webhook_id)
        was = webhooks.find(tx, user_id, webhook_id)
        if was is None:
            raise NotFound(NOT_THERE)
        webhooks.change(
            tx,
            webhook_id,
            was.url if url is None else url,
            was.description if description is None else description,
            was.events if events is None else _chosen(events),
            enabled=was.disabled_at is None if enabled is None else enabled,
            now=now,
        )
        row = webhooks.find(tx, user_id, webhook_id)
    if row is None:  # we hold its lock
        raise NotFound(NOT_THERE)
    return _webhook(row, now)


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
        told = Message("The address of a webhook: %(why)s.", why=error.args[0])
        raise InvalidInput(told, errors=[{"pointer": "/url", "detail": str(error)}]) from None


def _chosen(events: Sequence[str]) -> list[str]:
    """In the order of the rules, each once."""
    unknown = [one for one in events if one not in EVENTS]
    if unknown:
        expected = f"expected events such as {EVENTS[0]}"
        raise InvalidInput(
            Message("There is no event %(event)s.", event=repr(unknown[0])),
            errors=[{"pointer": "/events", "detail": expected}],
        )
    return [one for one in EVENTS if one in events] or list(EVENTS)


def _webhook(row: WebhookRow, now: datetime) -> Webhook:
    until = row.old_secret_until if row.old_secret_until and row.old_secret_until > now else None
    return Webhook(
        row.id,
        row.url,
        row.description,
        row.events,
        row.created_at,
        row.disabled_at,
        row.disabled_because,
        row.failures,
        row.failing_since,
        until,
    )
