"""A new key takes over: everything is encrypted again, and the old key can be removed."""

from __future__ import annotations

import json
import os
import pwd
import socket
from typing import Any

import pytest

from app.domain.webhooks import WebhookFields
from app.services.webhooks import log, signing, webhooks
from app.services.webhooks.deliver import Sender
from app.services.webhooks.sealing import Keyring, key_id
from app.services.webhooks.webhooks import Where
from app.store.webhooks import sealed
from tests.conftest import World
from tests.services.webhooks.receiving import Hooks, verified

OLD, NEW, SECRET = "an old key of this test", "a new key of this test", "a secret key of this test"


@pytest.fixture
def keys(fairlane: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """keys(command, ENCRYPTION_KEYS) -> what it prints."""
    monkeypatch.setenv("SECRET_KEY", SECRET)

    def run(command: str, encryption_keys: str) -> list[dict[str, Any]]:
        monkeypatch.setenv("ENCRYPTION_KEYS", encryption_keys.replace(" ", "_"))
        done = fairlane("keys", command, "--json")
        assert done.exit_code == 0, done.output
        rows: list[dict[str, Any]] = json.loads(done.output)
        return rows

    return run


def phrase(key: str) -> str:
    """As it is set: a key has no spaces."""
    return key.replace(" ", "_")


def test_after_a_new_key_took_over_the_old_one_has_encrypted_nothing_and_signatures_are_the_same(
    world: World, keys: Any
) -> None:
    user, old = world.user(), Keyring.of([phrase(OLD)])
    hook, secret = webhooks.add(
        world.uow, user, WebhookFields("https://h.example.org/", "", []), Where(), old, now=world.uow.now()
    )
    newer = webhooks.rotate(world.uow, user, hook.id, old, now=world.uow.now())
    both = f"{phrase(NEW)},{phrase(OLD)}"
    assert [(row["name"], row["secrets"], row["encrypts"]) for row in keys("list", both)] == [
        ("ENCRYPTION_KEYS 1", 0, True), ("ENCRYPTION_KEYS 2", 2, False), ("SECRET_KEY", 0, False),
    ]  # fmt: skip
    assert [(row["name"], row["secrets"]) for row in keys("reencrypt", both)] == [
        ("ENCRYPTION_KEYS 1", 2), ("ENCRYPTION_KEYS 2", 0), ("SECRET_KEY", 0),
    ]  # fmt: skip
    hooks = Hooks(world)
    log.send_test(world.uow, user, hook.id)
    sender = hooks.sender(hooks.receiver.post)
    only_new = Sender(sender.post, Keyring.of([phrase(NEW)]), sender.policy, sender.render, sender.roll)
    assert hooks.turn(hook.id, only_new) == 1
    [got] = hooks.receiver.got
    assert verified(got.headers, got.body, secret)
    assert verified(got.headers, got.body, newer)
    actor = f"cli:{pwd.getpwuid(os.getuid()).pw_name}@{socket.gethostname()}"
    assert world.rows("SELECT actor, facts FROM audit_log WHERE action = 'keys.reencrypt'") == [
        {"actor": actor, "facts": {"changed": 1}}
    ]


def test_what_no_key_opens_is_counted_and_left_as_it_is(world: World, keys: Any) -> None:
    user, unknown = world.user(), Keyring.of(["a key that is gone"])
    webhooks.add(
        world.uow, user, WebhookFields("https://h.example.org/", "", []), Where(), unknown, now=world.uow.now()
    )
    before = world.rows("SELECT secret FROM webhooks")
    rows = keys("reencrypt", phrase(NEW))
    assert [(row["id"], row["name"], row["secrets"]) for row in rows if row["secrets"]] == [
        (key_id("a key that is gone").hex(), None, 1)
    ]
    assert [bytes(row["secret"]) for row in world.rows("SELECT secret FROM webhooks")] == [
        bytes(row["secret"]) for row in before
    ]


@pytest.mark.proof
def test_many_secrets_are_encrypted_in_batches(world: World, keys: Any) -> None:
    old = Keyring.of([phrase(OLD)])
    for _ in range(25):
        user = world.user()
        for _ in range(10):
            webhooks.add(
                world.uow, user, WebhookFields("https://h.example.org/", "", []), Where(), old, now=world.uow.now()
            )
    rows = keys("reencrypt", f"{phrase(NEW)},{phrase(OLD)}")
    assert [row["secrets"] for row in rows] == [250, 0, 0]
    with world.uow.begin() as tx:
        part = sealed.part(tx, None, 1000)
    keyring = Keyring.of([phrase(NEW)])
    assert all(len(keyring.open(bytes(row.secret), row.id)) == signing.BYTES for row in part)


def test_without_the_keys_of_the_service_nothing_is_encrypted_and_no_key_is_made(
    fairlane: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.delenv("SECRET_KEY", raising=False)
    monkeypatch.setenv("FAIRLANE_HOME", str(tmp_path / "home"))
    done = fairlane("keys", "reencrypt")
    assert done.exit_code == 1
    assert "SECRET_KEY: not set" in done.output
    assert not (tmp_path / "home" / "secret_key").exists()
