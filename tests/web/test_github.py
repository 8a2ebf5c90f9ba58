"""Signing in with GitHub, and linking it, against a double of it."""

from __future__ import annotations

import html
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from pydantic import SecretStr
from service_harness.application import Web, csrf
from werkzeug.test import TestResponse

from app.services.accounts import github as use_cases
from app.services.accounts import sign_in_methods
from app.web.accounts import github as asking
from app.web.accounts.github_pages import DENIED
from tests.tiers import few
from tests.web.conftest import rows
from tests.web.github_double import CLIENT, Double, github
from tests.web.test_passwords import EMAIL, PASSWORD, cookie, send

CALLBACK = "/sign-in/github/callback"


@pytest.fixture
def double() -> Iterator[Double]:
    with github() as found:
        yield found


@pytest.fixture
def make(make_web: Callable[..., Web], double: Double) -> Callable[..., Web]:
    def made(**settings: Any) -> Web:
        own = {
            "sign_up": "open", "github_client_id": CLIENT["client_id"], "github_oauth_url": double.url,
            "github_client_secret": SecretStr(CLIENT["client_secret"]),
        }  # fmt: skip
        return make_web(**own | settings)

    return made


def lead(web: Web, path: str = "/sign-in/github", page: str = "/sign-in") -> str:
    """The address at GitHub that a form leads to."""
    answer = web.post(path, page)
    assert answer.status_code == 200, answer.text
    (found,) = re.findall(r'content="0; url=([^"]+)"', answer.text)
    return html.unescape(found)


def come_back(web: Web, **query: str) -> TestResponse:
    return web.client.get(f"{CALLBACK}?{urlencode(query)}")


def sign_in(web: Web, double: Double) -> TestResponse:
    return come_back(web, **double.authorise(lead(web)))


def link(web: Web, double: Double) -> TestResponse:
    return come_back(web, **double.authorise(lead(web, "/account/github", "/account")))


def test_without_its_settings_there_is_no_trace_of_it(make_web: Callable[..., Web]) -> None:
    web = make_web(sign_up="open")
    assert "GitHub" not in web.client.get("/sign-in").text
    assert web.post("/sign-in/github", "/sign-in").status_code == 404
    assert web.client.get(CALLBACK).status_code == 404
    send(web, "/sign-up")
    assert "GitHub" not in web.client.get("/account").text
    assert web.post("/account/github", "/account").status_code == 404


def test_a_stranger_gets_an_account_with_the_verified_address_and_signs_in_again(
    make: Callable[..., Web], double: Double
) -> None:
    web = make()
    answer = sign_in(web, double)
    assert (answer.status_code, answer.location) == (303, "/")
    page = web.client.get("/account").text
    assert EMAIL in page
    assert "was confirmed" in page
    web.post("/sign-out")
    double.user = {"id": 7, "login": "ann-renamed"}
    double.emails = [{"email": "other@example.org", "primary": True, "verified": True}]
    assert sign_in(web, double).status_code == 303
    assert rows(web, "SELECT email FROM users WHERE kind = 'person'") == [(EMAIL,)]
    assert "ann-renamed" in web.client.get("/account").text


def test_an_equal_address_signs_in_to_no_existing_account(make: Callable[..., Web], double: Double) -> None:
    web = make()
    send(web, "/sign-up", EMAIL.upper())
    web.post("/sign-out")
    refused = sign_in(web, double)
    assert refused.status_code == 409
    assert use_cases.TAKEN in refused.text
    assert EMAIL not in web.client.get("/").text
    assert rows(web, "SELECT 1 FROM github_links") == []
    send(web, "/sign-in/password")
    assert link(web, double).status_code == 303
    web.post("/sign-out")
    assert sign_in(web, double).status_code == 303
    assert EMAIL.upper() in web.client.get("/").text


def test_where_sign_up_is_closed_only_linked_accounts_are_let_in(make: Callable[..., Web], double: Double) -> None:
    web = make(sign_up="closed")
    refused = sign_in(web, double)
    assert refused.status_code == 403
    assert use_cases.UNKNOWN in refused.text
    web.sign_in(web.user())
    assert link(web, double).status_code == 303
    web.post("/sign-out")
    assert sign_in(web, double).status_code == 303


@pytest.mark.parametrize("emails", [
    [], [{"email": EMAIL, "primary": True, "verified": False}], [{"email": EMAIL, "primary": False, "verified": True}],
])  # fmt: skip
def test_an_address_that_github_has_not_verified_makes_no_account(
    make: Callable[..., Web], double: Double, emails: list[dict[str, Any]]
) -> None:
    web, double.emails = make(), emails
    refused = sign_in(web, double)
    assert refused.status_code == 422
    assert use_cases.NO_EMAIL in refused.text


def test_a_person_who_hides_their_addresses_links_and_signs_in(make: Callable[..., Web], double: Double) -> None:
    web = make()
    double.broken["/api/v3/user/emails"] = (404, "{}")
    send(web, "/sign-up")
    assert link(web, double).status_code == 303
    web.post("/sign-out")
    assert sign_in(web, double).status_code == 303


@pytest.mark.parametrize("query", [{"state": "another"}, {"state": ""}, {}, {"state": "\u00e9"}])
def test_another_state_is_refused_before_github_is_asked(
    make: Callable[..., Web], double: Double, query: dict[str, str]
) -> None:
    web = make()
    back = double.authorise(lead(web))
    refused = come_back(web, code=back["code"], **query)
    assert refused.status_code == 422
    assert use_cases.EXPIRED in refused.text
    assert back["code"] in double.codes  # not exchanged
    assert come_back(web, **back).status_code == 422  # the attempt is over


def test_a_state_belongs_to_the_browser_that_began(make: Callable[..., Web], double: Double) -> None:
    web = make()
    back = double.authorise(lead(web))
    other = web.app.test_client()
    other.get("/sign-in")
    assert other.get(f"{CALLBACK}?{urlencode(back)}").status_code == 422
    assert come_back(web, **back).status_code == 303


def test_coming_back_twice_works_once_even_with_the_same_cookie(make: Callable[..., Web], double: Double) -> None:
    web = make()
    back = double.authorise(lead(web))
    before = cookie(web)
    double.codes["spare"] = double.codes[back["code"]]
    assert come_back(web, **back).status_code == 303
    web.client.set_cookie("fairlane", before)
    again = come_back(web, **back | {"code": "spare"})
    assert again.status_code == 422
    assert use_cases.EXPIRED in again.text
    assert "spare" in double.codes


def test_a_code_that_github_does_not_take_is_refused(make: Callable[..., Web], double: Double) -> None:
    web = make()
    back = double.authorise(lead(web))
    double.codes.clear()
    refused = come_back(web, **back)
    assert refused.status_code == 422
    assert asking.REFUSED in refused.text


def test_a_person_who_says_no_is_told_so(make: Callable[..., Web], double: Double) -> None:
    web = make()
    state = double.authorise(lead(web))["state"]
    refused = come_back(web, error="access_denied", error_description="<script>", state=state)
    assert refused.status_code == 422
    assert DENIED in refused.text
    assert "<script>" not in refused.text
    send(web, "/sign-up")
    state = double.authorise(lead(web, "/account/github", "/account"))["state"]
    refused = come_back(web, error="access_denied", state=state)
    assert refused.status_code == 422
    assert "Delete account" in refused.text  # told on the page of the account
    assert DENIED in refused.text


@pytest.mark.parametrize(("path", "status", "body", "told"), few(4, [
    ("/login/oauth/access_token", 500, "oops", 503), ("/login/oauth/access_token", 200, "not json", 422),
    ("/login/oauth/access_token", 200, "{}", 422), ("/login/oauth/access_token", 200, "[]", 422),
    ("/login/oauth/access_token", 404, '{"error": "x"}', 503), ("/api/v3/user", 500, "", 503),
    ("/api/v3/user", 403, "{}", 503), ("/api/v3/user", 200, "{}", 422), ("/api/v3/user", 200, "[]", 422),
    ("/api/v3/user", 200, '{"id": "7", "login": "ann"}', 422), ("/api/v3/user/emails", 200, "7", 422),
]))  # fmt: skip
def test_what_github_answers_wrongly_is_told_and_never_a_failure(
    make: Callable[..., Web], double: Double, path: str, status: int, body: str, told: int
) -> None:
    web = make()
    double.broken[path] = (status, body)
    answer = sign_in(web, double)
    assert answer.status_code == told, answer.text
    assert rows(web, "SELECT 1 FROM users WHERE kind = 'person'") == []


def test_a_github_that_does_not_answer_is_waited_for_only_so_long(
    make: Callable[..., Web], double: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    web = make()
    monkeypatch.setattr(asking, "SECONDS", 0.2)
    back = double.authorise(lead(web))
    double.hold = threading.Event()
    answer = come_back(web, **back)
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0
    assert "GitHub does not answer" in answer.text


def test_a_github_that_is_away_is_told(make: Callable[..., Web], double: Double) -> None:
    web = make(github_oauth_url="http://127.0.0.1:1")
    address = lead(web)
    state = re.findall(r"state=([^&]+)", address)[0]
    assert come_back(web, code="x", state=state).status_code == 503


def test_only_some_threads_wait_for_github(
    make: Callable[..., Web], double: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    web = make()
    monkeypatch.setattr(asking, "SECONDS", 0.05)
    seats = web.app.extensions[asking.EXTENSION].seats
    for _ in range(asking.AT_ONCE):
        seats.acquire()
    assert sign_in(web, double).status_code == 503
    for _ in range(asking.AT_ONCE):
        seats.release()
    monkeypatch.setattr(asking, "SECONDS", 30)
    assert sign_in(web, double).status_code == 303


def test_one_github_account_signs_in_to_one_account_only(make: Callable[..., Web], double: Double) -> None:
    web = make()
    sign_in(web, double)
    web.post("/sign-out")
    send(web, "/sign-up", "eve@example.org")
    refused = link(web, double)
    assert refused.status_code == 409
    assert use_cases.LINKED in refused.text


def test_a_link_goes_to_the_account_that_asked_for_it(make: Callable[..., Web], double: Double) -> None:
    web = make()
    send(web, "/sign-up")
    back = double.authorise(lead(web, "/account/github", "/account"))
    with web.client.session_transaction() as session:
        kept = session["github"]
    send(web, "/sign-up", "eve@example.org")
    with web.client.session_transaction() as session:
        session["github"] = kept
    assert come_back(web, **back).status_code == 422
    assert rows(web, "SELECT 1 FROM github_links") == []


def test_unlinking_keeps_one_way_to_sign_in(make: Callable[..., Web], double: Double) -> None:
    web = make()
    sign_in(web, double)
    refused = web.post("/account/github/unlink", "/account")
    assert refused.status_code == 409
    assert sign_in_methods.LAST in refused.text
    web.post("/account/password", "/account", password=PASSWORD)
    assert web.post("/account/github/unlink", "/account").status_code == 303
    assert "Link GitHub" in web.client.get("/account").text
    assert web.client.get("/account/export.json").json["github"] == []


def test_forms_need_their_csrf_token_and_coming_back_while_signed_in_begins_a_new_session(
    make: Callable[..., Web], double: Double
) -> None:
    web = make()
    for path in ("/sign-in/github", "/account/github", "/account/github/unlink"):
        assert web.client.post(path).status_code == 400
    send(web, "/sign-up", "eve@example.org")
    before = csrf(web.client.get("/"))
    sign_in(web, double)
    assert csrf(web.client.get("/")) != before
    assert EMAIL in web.client.get("/").text
    assert len(rows(web, "SELECT 1 FROM sessions")) == 1
