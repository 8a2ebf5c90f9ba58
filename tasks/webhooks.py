"""The task that tells a webhook what is due: without a user or a slot, and safe to repeat."""

from random import random
from uuid import UUID

import structlog

from app.home import secret_key
from app.services.webhooks.deliver import Sender, take_turn
from app.services.webhooks.sealing import Keyring
from tasks.celery import app
from tasks.maintenance import FORGOTTEN
from tasks.webhook_body import renderer
from tasks.webhook_post import poster
from tasks.wiring import wired

log = structlog.get_logger(__name__)


@app.task(name="tasks.webhooks.deliver", **FORGOTTEN)
def deliver(*, webhook_id: str) -> None:
    """Send what is due to one webhook.  Beat enqueues this task again when more is due."""
    kit = wired()
    sender = Sender(
        poster(kit.settings),
        Keyring.of([*kit.settings.encryption_phrases, secret_key(kit.settings)]),
        kit.policy,
        renderer(kit.settings.public_url or ""),
        random,
    )
    attempts = take_turn(kit.uow, UUID(webhook_id), sender)
    log.info("webhook_turn", webhook=webhook_id, attempts=attempts)
