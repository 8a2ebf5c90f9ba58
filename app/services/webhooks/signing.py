"""Secrets and signatures after the Standard Webhooks specification, 1.0."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from base64 import b64encode
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

PREFIX = "whsec_"
BYTES = 32


def new_secret() -> bytes:
    """Make a secret of random bytes."""
    return secrets.token_bytes(BYTES)


def shown(secret: bytes) -> str:
    """The secret in the form in which its owner gets it, once."""
    return PREFIX + b64encode(secret).decode()


def message_name(message_id: UUID) -> str:
    """The `webhook-id` of all attempts of a delivery."""
    return f"msg_{message_id.hex}"


def headers(name: str, body: bytes, keys: Sequence[bytes], *, now: datetime) -> dict[str, str]:
    """The headers of one attempt.  keys: the current secret, then the previous one while it still signs."""
    stamp = str(int(now.timestamp()))
    signed = b".".join((name.encode(), stamp.encode(), body))
    signatures = [f"v1,{b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()}" for key in keys]
    return {"webhook-id": name, "webhook-timestamp": stamp, "webhook-signature": " ".join(signatures)}
