"""One turn of a webhook: send what is due, oldest first, until one attempt fails or the turn is over.

Before each attempt its state is read, and how it ended is one commit, so an attempt whose worker died is made again
with the same id.  No transaction is open while the receiver is waited for.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from time import monotonic
from typing import Protocol
from uuid import UUID

import structlog

from app.domain.webhooks import PATIENCE, TEST, backoff, pause
from app.origins import Origin, entered
from app.services.policy import Policy
from app.services.webhooks import signing
from app.services.webhooks.event import Render, event_of
from app.services.webhooks.sealing import CannotOpenError, Keyring
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.operations import event_totals
from app.store.webhooks import webhook_deliveries, webhooks
from app.store.webhooks.webhook_deliveries import DueRow

log = structlog.get_logger(__name__)

#: A turn begins no attempt after this, so that other webhooks get theirs.
TURN_SECONDS = 10.0
#: What a receiver gets for an answer, with the look-up, the connection and the request; less while others wait.
PATIENT = 10.0
#: Bytes of an answer that the log keeps.
EXCERPT = 1024
GONE = 410


@dataclass(frozen=True, slots=True)
class Reply:
    """How a receiver answered.  status: None if it did not, then fault says why, as a code; text: the beginning."""

    status: int | None
    text: str = ""
    fault: str | None = None

    @property
    def is_success(self) -> bool:
        """Whether the receiver took the event."""
        return self.status is not None and 200 <= self.status < 300


class Post(Protocol):
    """Sends one request; every failure is a Reply."""

    def __call__(self, url: str, body: bytes, headers: dict[str, str], seconds: float) -> Reply:
        """Post.  seconds: for everything."""
        ...


@dataclass(frozen=True, slots=True)
class Sender:
    """The means by which a turn sends.  roll: 0 <= roll() < 1, for jitter."""

    post: Post
    keyring: Keyring
    policy: Policy
    render: Render
    roll: Callable[[], float]


def take_turn(
    uow: UnitOfWork,
    webhook_id: UUID,
    sender: Sender,
    *,
    seconds: float = TURN_SECONDS,
    patience: Callable[[], float] = lambda: PATIENT,
) -> int:
    """Send one webhook its due deliveries.  seconds: only the first attempt begins later; patience: of each attempt.

    Returns: how many attempts were made.
    """
    began, attempts = monotonic(), 0
    while attempts == 0 or monotonic() - began < seconds:
        now = uow.now()  # not inside, where it may need a second connection
        with uow.begin() as tx:
            delivery = _next(tx, webhook_id, sender, now=now)
        if delivery is None:
            break
        attempts += 1
        if not _attempt(uow, *delivery, sender, patience()):
            break
    return attempts


def _next(tx: Tx, webhook_id: UUID, sender: Sender, *, now: datetime) -> tuple[DueRow, str] | None:
    """The next delivery and its body, which is made and stored at the first attempt."""
    while (row := webhook_deliveries.next_of(tx, webhook_id)) is not None:
        if row.body is not None:
            return row, row.body
        event = event_of(tx, row, sender.policy, now=now)
        if event is not None:
            body = sender.render(event)
            webhook_deliveries.keep_body(tx, row, body)
            return row, body
        webhook_deliveries.give_up(tx, row, "job_deleted")
    return None


def _attempt(uow: UnitOfWork, row: DueRow, body: str, sender: Sender, seconds: float) -> bool:
    """Send one delivery and record its outcome.  Returns: whether more may be sent to this webhook now."""
    with entered(Origin.of_message(row.request_id, row.traceparent)):
        began = monotonic()
        reply = _sent(uow, row, body, sender, seconds)
        took, now = monotonic() - began, uow.now()
        with uow.begin() as tx:
            _record(tx, row, reply, round(took * 1000), sender.roll(), now=now)
        _say(row, reply, took)
    return reply.is_success


def _sent(uow: UnitOfWork, row: DueRow, body: str, sender: Sender, seconds: float) -> Reply:
    try:
        sealed = [row.secret, *([row.old_secret] if row.old_secret else [])]
        keys = [sender.keyring.open(bytes(one), row.webhook_id) for one in sealed]
    except CannotOpenError:
        return Reply(None, fault="secret_unreadable")
    content, name = body.encode(), signing.message_name(row.message_id)
    headers = signing.headers(name, content, keys, now=uow.now()) | _ids(row)
    return sender.post(row.url, content, headers, seconds)


def _ids(row: DueRow) -> dict[str, str]:
    """The ids of the request that submitted the job, for whoever sent it: they are no business of others who joined."""
    ids = {"traceparent": row.traceparent, "X-Request-Id": row.request_id}
    return {name: value for name, value in ids.items() if value and row.is_payers}


def _say(row: DueRow, reply: Reply, took: float) -> None:
    facts = {
        "tenant": str(row.user_id),
        "job_id": str(row.job_id) if row.job_id else None,
        "webhook_id": str(row.webhook_id),
        "type": row.type,
        "attempt": row.attempts + 1,
        "status": reply.status,
        "fault": reply.fault,
        "seconds": round(took, 3),
    }
    log.log(
        logging.INFO if reply.is_success else logging.WARNING,
        "webhook_sent" if reply.is_success else "webhook_failed",
        **{name: fact for name, fact in facts.items() if fact is not None},
    )


def _record(tx: Tx, row: DueRow, reply: Reply, latency: int, roll: float, *, now: datetime) -> None:
    # an owner who sees a failed test sends another one
    delay = None if reply.is_success or row.type == TEST else backoff(row.attempts + 1, roll)
    recorded = webhook_deliveries.record(
        tx,
        row,
        due_at=None if delay is None else now + delay,
        status="delivered" if reply.is_success else "failed" if delay is None else "pending",
        status_code=reply.status,
        latency_ms=latency,
        answer=_excerpt(reply.text) or None,
        fault=reply.fault,
        now=now,
    )
    if not recorded:
        return
    event_totals.add(tx, "webhook", "delivered" if reply.is_success else "failed")
    if reply.is_success:
        webhooks.succeeded(tx, row.webhook_id)
    else:
        webhooks.failed(
            tx,
            row.webhook_id,
            gone=reply.status == GONE,
            paused_until=now + pause(row.failures + 1),
            patient_since=now - PATIENCE,
            now=now,
        )


def _excerpt(answer: str) -> str:
    """The beginning of an answer, without NUL, which PostgreSQL does not store."""
    return answer.replace("\x00", " ").encode()[:EXCERPT].decode("utf-8", "ignore")
