"""A receiver that a test scripts, in place of the network, and the verification of the specification."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from app.adapters.webhook_body import renderer
from app.domain.webhooks import WebhookFields
from app.services.policy import Policy
from app.services.webhooks import webhooks
from app.services.webhooks.deliver import Post, Reply, Sender, take_turn
from app.services.webhooks.sealing import Keyring
from app.services.webhooks.webhooks import Webhook, Where
from tests.conftest import World

KEYRING = Keyring.of(["a phrase that only tests use"])
URL = "https://hooks.example.org/fairlane?x=1"


def verified(headers: dict[str, str], body: bytes, secret: str) -> bool:
    """As a receiver does it, from the text of the specification."""
    key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return any(
        version == "v1" and hmac.compare_digest(signature, expected)
        for version, _, signature in (one.partition(",") for one in headers["webhook-signature"].split(" "))
    )


@dataclass(frozen=True)
class Got:
    """One request."""

    url: str
    body: bytes
    headers: dict[str, str]

    @property
    def event(self) -> dict[str, Any]:
        return json.loads(self.body)


@dataclass
class Receiver:
    """Answers with the replies in their order, then always with the last one."""

    replies: list[Reply] = field(default_factory=lambda: [Reply(204)])
    got: list[Got] = field(default_factory=list)

    def post(self, url: str, body: bytes, headers: dict[str, str], seconds: float) -> Reply:
        self.got.append(Got(url, body, headers))
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


@dataclass(frozen=True)
class Hooks:
    """Webhooks of a world, and their turns."""

    world: World
    receiver: Receiver = field(default_factory=Receiver)

    def add(self, user: UUID, *events: str, url: str = URL) -> tuple[Webhook, str]:
        return webhooks.add(
            self.world.uow, user, WebhookFields(url, "", events), Where(), KEYRING, now=self.world.uow.now()
        )

    def sender(self, post: Post) -> Sender:
        return Sender(post, KEYRING, Policy("1.0.0+test"), renderer("https://fairlane.test"), lambda: 0.0)

    def turn(self, webhook_id: UUID, sender: Sender | None = None) -> int:
        return take_turn(self.world.uow, webhook_id, sender or self.sender(self.receiver.post), seconds=600)

    def rows(self, columns: str = "type, status, attempts, status_code, fault") -> list[dict[str, object]]:
        return self.world.rows(f"SELECT {columns} FROM webhook_deliveries ORDER BY id")

    def rest(self) -> None:
        """Let the webhooks that rest do so for an hour longer."""
        self.world.rows("UPDATE webhooks SET paused_until = paused_until + interval '1 h' RETURNING id")

    def come_due(self) -> None:
        """As if the delays were over."""
        self.world.rows("UPDATE webhooks SET paused_until = NULL RETURNING id")
        self.world.rows(
            "UPDATE webhook_deliveries SET due_at = clock_timestamp() WHERE due_at IS NOT NULL RETURNING id"
        )
