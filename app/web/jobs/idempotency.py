"""Idempotency-Key: the answer to a submission, now and when it is repeated."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any, TypeVar

from flask import request

from app.errors import InvalidInput
from app.services.jobs.answers import Answer, Key
from app.store.jobs.idempotency import Rendered, Stored
from app.web.core.exchanges import about
from app.web.jobs.job_json import ACCEPTED, rendered

T = TypeVar("T")

LONGEST_KEY = 255
#: Seconds after which a client may poll for its job again.
POLL_SECONDS = 1
#: Header that says that the answer was given before.
REPLAYED = {"Idempotency-Replayed": "true"}


def idempotency_key(body: dict[str, Any], render: Callable[[T], Rendered]) -> Key[T] | None:
    """The key of this request with the fingerprint of its contents.  Raises: InvalidInput."""
    key = request.headers.get("Idempotency-Key")
    if key is None:
        return None
    if not 0 < len(key) <= LONGEST_KEY or not key.isprintable():
        detail = f"expected 1 to {LONGEST_KEY} printable characters"
        raise InvalidInput(
            "The Idempotency-Key is empty or too long.", errors=[{"pointer": "/Idempotency-Key", "detail": detail}]
        )
    canonical = json.dumps([request.method, request.path, body], sort_keys=True, separators=(",", ":"))
    return Key(key, hashlib.sha256(canonical.encode()).digest(), render)


def answered(found: Answer | Stored) -> tuple[dict[str, Any], int, dict[str, str]]:
    """Compose body, status and headers: the address of the job, when to poll again, whether this repeats an answer."""
    status, body = (found.status, found.body) if isinstance(found, Stored) else rendered(found)
    headers = {"Location": body["links"]["self"]}
    about(body["id"])
    if status == ACCEPTED:
        headers["Retry-After"] = str(POLL_SECONDS)
    if isinstance(found, Stored):
        headers |= REPLAYED
    return body, status, headers
