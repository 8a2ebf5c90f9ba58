"""Keys are replaced as docs/operating.md says, step by step, on real processes: nobody is signed out, and signatures hold."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from durable_harness.waiting import wait_for
from standardwebhooks import Webhook as Verifier

from tests.e2e.receivers import Receiver, receiving, status
from tests.e2e.service import Service

pytestmark = pytest.mark.proof

FIRST, SECOND = "the-first-secret-key-of-all", "the-second-secret-key-of-all"
OLD, NEW = "the-old-encryption-key", "the-new-encryption-key"
BASE = {"WEBHOOK_LOOPBACK": "true", "PUBLIC_URL": "http://127.0.0.1"}
EMAIL = "SELECT email FROM users LIMIT 1"


@dataclass
class Watched:
    """A service with a person who is signed in, and a webhook."""

    service: Service
    browser: httpx.Client
    receiver: Receiver
    secret: str = ""

    def sign_in(self) -> None:
        link = self.service.fairlane("user", "link", str(self.service.world.value(EMAIL))).stdout
        token = re.search(r"/sign-in\?token=(\S+)", link)
        assert token, link
        url = f"{self.service.web.url}/sign-in"
        page = self.browser.get(url, params={"token": token[1]})
        form = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page.text))
        assert self.browser.post(url, data=form).status_code == 303

    def add_webhook(self) -> None:
        self.secret = self.service.web.ask("/api/v1/me/webhooks", {"url": self.receiver.url})["secret"]

    def restart(self, **keys: str) -> None:
        """Restart everything, as a step says; each step but the last keeps people signed in."""
        self.service.replace(**BASE, **keys)

    def is_signed_in(self) -> bool:
        return self.browser.get(f"{self.service.web.url}/account").status_code == 200

    def signs(self) -> bool:
        """Whether the receiver gets what it can verify about another job."""
        before = len(self.receiver.got)
        self.service.web.ask("/api/v1/analyses", {"repository": "local:shop", "commit": next(self.service.commits)})
        wait_for(lambda: len(self.receiver.got) > before, "a webhook")
        headers, body = self.receiver.got[-1]
        return bool(Verifier(self.secret).verify(body, headers) == json.loads(body))

    def keys(self, command: str) -> dict[str, int]:
        """How many secrets each key has encrypted."""
        done = self.service.fairlane("keys", command, "--json")
        assert done.returncode == 0, done.stderr
        return {row["name"]: row["secrets"] for row in json.loads(done.stdout)}


@pytest.fixture
def watched(database_url: str, repository: Callable[..., Path], tmp_path: Path) -> Iterator[Watched]:
    first = BASE | {"SECRET_KEY": FIRST, "ENCRYPTION_KEYS": OLD}
    with (
        receiving(status(204)) as receiver,
        httpx.Client(timeout=60, trust_env=False) as browser,
        Service.on(database_url, tmp_path, repository, **first) as service,
    ):
        made = Watched(service, browser, receiver)
        made.sign_in()
        made.add_webhook()
        yield made


def test_encryption_keys_are_replaced_in_four_steps(watched: Watched) -> None:
    watched.restart(SECRET_KEY=FIRST, ENCRYPTION_KEYS=f"{OLD},{NEW}")
    watched.restart(SECRET_KEY=FIRST, ENCRYPTION_KEYS=f"{NEW},{OLD}")
    assert watched.keys("list") == {"ENCRYPTION_KEYS 1": 0, "ENCRYPTION_KEYS 2": 1, "SECRET_KEY": 0}
    assert watched.signs()
    assert watched.keys("reencrypt") == {"ENCRYPTION_KEYS 1": 1, "ENCRYPTION_KEYS 2": 0, "SECRET_KEY": 0}
    watched.restart(SECRET_KEY=FIRST, ENCRYPTION_KEYS=NEW)
    assert (watched.signs(), watched.is_signed_in()) == (True, True)


def test_the_secret_key_is_replaced_in_four_steps(watched: Watched) -> None:
    watched.restart(SECRET_KEY=FIRST, SECRET_KEY_PREDECESSORS=f"{SECOND},{FIRST}", ENCRYPTION_KEYS=OLD)
    assert watched.is_signed_in()
    watched.restart(SECRET_KEY=SECOND, SECRET_KEY_PREDECESSORS=FIRST, ENCRYPTION_KEYS=OLD)
    assert (watched.is_signed_in(), watched.signs()) == (True, True)
    assert watched.keys("list") == {"ENCRYPTION_KEYS 1": 1, "SECRET_KEY": 0, "SECRET_KEY_PREDECESSORS 1": 0}
    watched.restart(SECRET_KEY=SECOND, ENCRYPTION_KEYS=OLD)
    assert (watched.is_signed_in(), watched.signs()) == (False, True)
