"""The task that sends webhooks their due deliveries: without a user or a slot, and safe to repeat."""

from random import random

import structlog

from app.adapters.webhook_body import renderer
from app.adapters.webhook_post import poster
from app.home import sealing_phrases, secret_key
from app.services.webhooks.deliver import Sender
from app.services.webhooks.sealing import Keyring
from app.services.webhooks.turns import take_turns
from tasks.celery import app
from tasks.maintenance import FORGOTTEN
from tasks.wiring import wired

log = structlog.get_logger(__name__)


@app.task(name="tasks.webhooks.deliver", **FORGOTTEN)
def deliver(*, webhook_id: str) -> None:
    """Send what is due, to this webhook and to all others.  Beat enqueues this task again when more is due."""
    kit = wired()
    sender = Sender(
        poster(kit.settings),
        Keyring.of(sealing_phrases(kit.settings, secret_key(kit.settings))),
        kit.policy,
        renderer(kit.settings.public_url or ""),
        random,
    )
    attempts = take_turns(kit.uow, sender)
    log.info("webhook_turns", asked_by=webhook_id, attempts=attempts)
