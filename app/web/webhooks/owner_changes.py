"""Changes of a webhook by its owner, who is sent a mail where somebody else could gain by them."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from app.services.webhooks import webhooks
from app.store.accounts.users import Account
from app.store.webhooks.webhooks import Webhook
from app.web.accounts import notices
from app.web.core.context import wired


def change(owner: Account, webhook_id: UUID, *, enabled: bool | None = None, now: datetime, **own: Any) -> Webhook:
    """Change what is given, and send a mail if the address is another one.  Raises: as webhooks.change."""
    services = wired()
    was = webhooks.find(services.uow, owner.user_id, webhook_id, now=now) if "url" in own else None
    changed = webhooks.change(
        services.uow, owner.user_id, webhook_id, services.webhook_addresses, now=now, enabled=enabled, **own
    )
    if was is not None and changed.url != was.url:
        notices.tell(owner, notices.WEBHOOK_ADDRESS)
    return changed


def rotate(owner: Account, webhook_id: UUID, *, now: datetime) -> str:
    """Make a new secret, and send a mail.  Returns: the secret.  Raises: as webhooks.rotate."""
    secret = webhooks.rotate(wired().uow, owner.user_id, webhook_id, wired().keyring, now=now)
    notices.tell(owner, notices.WEBHOOK_SECRET)
    return secret
