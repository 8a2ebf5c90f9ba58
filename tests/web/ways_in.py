"""What people do to get in: with passkeys and accounts of GitHub, in browsers of a service with cells."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

from pydantic import SecretStr
from service_harness.application import csrf
from sqlalchemy import text
from werkzeug.test import Client, TestResponse

from tests.databases import Databases
from tests.web.authenticators import Authenticator
from tests.web.github_double import CLIENT, Double
from tests.web.joined_cells import Joined, two_cells


@contextmanager
def cells_with_github(databases: Databases, double: Double) -> Iterator[Joined]:
    """Two cells, to which people may get in through the double of GitHub."""
    app = {"github_client_id": CLIENT["client_id"], "github_client_secret": SecretStr(CLIENT["client_secret"])}
    with two_cells(databases, github_oauth_url=double.url, **app) as made:
        yield made


def send(browser: Client, path: str, page: str, **fields: str) -> TestResponse:
    return browser.post(path, data={"csrf_token": csrf(browser.get(page)), **fields})


def options(browser: Client, path: str, page: str, **fields: str) -> dict[str, Any]:
    answer = send(browser, f"{path}/options", page, **fields)
    assert answer.status_code == 200, answer.text
    return dict(json.loads(answer.text))


def add_passkey(browser: Client, key: Authenticator | None = None) -> Authenticator:
    key = key or Authenticator()
    made = key.create(options(browser, "/account/passkeys", "/account"))
    assert send(browser, "/account/passkeys", "/account", credential=made, name="A key").status_code == 303
    return key


def enter(browser: Client, key: Authenticator) -> TestResponse:
    answer = key.get(options(browser, "/sign-in/passkey", "/sign-in"))
    return send(browser, "/sign-in/passkey", "/sign-in", credential=answer)


def is_signed_in(browser: Client, email: str | None) -> bool:
    page = browser.get("/account")
    return page.status_code == 200 and bool(email) and str(email) in page.text


def through_github(browser: Client, double: Double, path: str = "/sign-in/github", page: str = "/sign-in") -> Any:
    lead = send(browser, path, page)
    assert lead.status_code == 200, lead.text
    (found,) = re.findall(r'content="0; url=([^"]+)"', lead.text)
    query = double.authorise(html.unescape(found))
    return browser.get(f"/sign-in/github/callback?{urlencode(query)}")


def is_(double: Double, number: int) -> None:
    """Let this be the person at GitHub."""
    double.user = {"id": number, "login": f"person{number}"}
    double.emails = [{"email": f"person{number}@example.org", "primary": True, "verified": True}]


def people(uow: Any, email: str) -> int:
    with uow.begin() as tx:
        return int(tx.run(text("SELECT count(*) FROM users WHERE email = :email"), email=email).scalar_one())
