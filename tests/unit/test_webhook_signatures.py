"""Signatures: the specification's example, another implementation, and the examples of our page."""

from __future__ import annotations

import base64
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from standardwebhooks import Webhook
from standardwebhooks.webhooks import WebhookVerificationError

from app.services.webhooks import signing
from app.services.webhooks.sealing import CannotOpenError, Keyring

PAGE = Path(__file__).parents[2] / "docs" / "webhooks.md"
BODY = '{"type":"analysis.completed","data":{"name":"한국어"}}'.encode()


def signed(*secrets: bytes, at: datetime | None = None) -> dict[str, str]:
    return signing.headers(signing.message_name(uuid4()), BODY, secrets, now=at or datetime.now(UTC))


def examples() -> dict[str, Any]:
    """What the code of the page defines."""
    found: dict[str, Any] = {}
    for code in re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        exec(code, found)
    return found


def test_the_example_of_the_specification_has_this_signature() -> None:
    key = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    at = datetime.fromtimestamp(1614265330, UTC)
    headers = signing.headers("msg_p5jXN8AQM9LWM0D4loKWxJek", b'{"test": 2432232314}', [key], now=at)
    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_another_implementation_and_the_examples_of_the_page_accept_what_we_sign() -> None:
    old, new = signing.new_secret(), signing.new_secret()
    found = examples()
    for secrets, known in (((new,), new), ((new, old), new), ((new, old), old)):
        headers, secret = signed(*secrets), signing.shown(known)
        assert Webhook(secret).verify(BODY, headers)["type"] == "analysis.completed"
        assert found["verify"](secret, headers, BODY)
        assert found["read"](secret, headers, BODY)["type"] == "analysis.completed"


@pytest.mark.parametrize("wrong", ["secret", "body", "id", "timestamp", "old", "signature"])
def test_they_refuse_whatever_was_changed(wrong: str) -> None:
    secret = signing.new_secret()
    at = datetime.now(UTC) - timedelta(minutes=10 if wrong == "old" else 0)
    headers, body, shown = signed(secret, at=at), BODY, signing.shown(secret)
    match wrong:
        case "secret":
            shown = signing.shown(signing.new_secret())
        case "body":
            body += b" "
        case "id":
            headers["webhook-id"] += "0"
        case "timestamp":
            headers["webhook-timestamp"] = str(int(headers["webhook-timestamp"]) - 1)
        case "signature":
            headers["webhook-signature"] = "v1,AAAA"
    assert not examples()["verify"](shown, headers, body)
    with pytest.raises(WebhookVerificationError):
        examples()["read"](shown, headers, body)


def test_what_is_encrypted_opens_in_its_own_row_and_under_its_own_key_only() -> None:
    row, plain = uuid4(), signing.new_secret()
    first, second = Keyring.of(["the first phrase"]), Keyring.of(["the second phrase", "the first phrase"])
    sealed = first.seal(plain, row)
    assert plain not in sealed
    assert sealed != first.seal(plain, row)
    assert first.open(sealed, row) == second.open(sealed, row) == plain
    newer = second.seal(plain, row)
    for keyring, changed, of in (
        (first, newer, row),
        (second, newer, uuid4()),
        (second, newer[:-1] + bytes([newer[-1] ^ 1]), row),
        (second, newer[:10], row),
    ):
        with pytest.raises(CannotOpenError):
            keyring.open(changed, of)
    assert "phrase" not in repr(second)
