"""Signing in leads back to the page that a person wanted, and keeps what the browser submitted before."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from pydantic import SecretStr
from service_harness.application import Web, csrf
from sqlalchemy import text

from app.domain.plans import Tier
from app.services.accounts import accounts, password_resets, passwords, sessions
from app.services.accounts.forget import forget
from app.services.operations.audit import audit
from tests.tiers import few
from tests.web.authenticators import Authenticator
from tests.web.conftest import rows
from tests.web.github_double import CLIENT, github
from tests.web.test_github import come_back, lead
from tests.web.test_passkeys import options
from tests.web.test_passwords import EMAIL, PASSWORD, send

HISTORY = "/history?limit=5"


@pytest.fixture
def web(make_web: Callable[..., Web]) -> Web:
    return make_web(sign_up="open")


def now() -> datetime:
    return datetime.now(UTC)


def person(web: Web) -> accounts.Account:
    made = accounts.add_user(web.uow, EMAIL, tier=Tier.PRO, actor="test", now=now())
    passwords.replace(web.uow, EMAIL, PASSWORD, actor="test", now=now())
    return made


def turned_away(web: Web, page: str = HISTORY) -> None:
    """A visitor opens a page for people, and follows its link."""
    refused = web.client.get(page)
    assert refused.status_code == 401
    (link,) = {part.split('"')[0] for part in refused.text.split('href="')[1:] if part.startswith("/sign-in")}
    assert web.client.get(link).status_code == 200


def by_password(web: Web) -> Any:
    person(web)
    return send(web, "/sign-in/password")


def by_link(web: Web) -> Any:
    secret = sessions.sign_in_link(web.uow, person(web).user_id, actor="cli:test", now=now())
    return web.post("/sign-in", f"/sign-in?token={secret}", token=secret)


def by_reset(web: Web) -> Any:
    secret = password_resets.hand_out(web.uow, person(web), actor="cli:test", now=now())
    return web.post("/reset", f"/reset?token={secret}", token=secret, password=PASSWORD)


def by_sign_up(web: Web) -> Any:
    return send(web, "/sign-up")


def by_sign_up_with_a_passkey(web: Web) -> Any:
    asked = options(web, "/sign-up/passkey", email=EMAIL)
    return web.post("/sign-up/passkey", "/sign-up", credential=Authenticator().create(asked))


def by_passkey(web: Web) -> Any:
    key, other = Authenticator(), Web(web.app, web.uow)
    other.post("/sign-up/passkey", "/sign-up", credential=key.create(options(other, "/sign-up/passkey", email=EMAIL)))
    return web.post("/sign-in/passkey", "/sign-in", credential=key.get(options(web, "/sign-in/passkey")))


WAYS = [by_password, by_link, by_reset, by_sign_up, by_sign_up_with_a_passkey, by_passkey]


@pytest.mark.parametrize("way", WAYS)
def test_every_way_in_leads_back_to_the_page_that_was_wanted(web: Web, way: Callable[[Web], Any]) -> None:
    turned_away(web)
    entered = way(web)
    assert (entered.status_code, entered.location) == (303, HISTORY)
    web.post("/sign-out")
    assert send(web, "/sign-in/password").location in {"/", None}  # once, and not for the next person


def test_github_leads_back_too(make_web: Callable[..., Web]) -> None:
    with github() as double:
        secret = SecretStr(CLIENT["client_secret"])
        offered = {"github_client_id": CLIENT["client_id"], "github_oauth_url": double.url}
        web = make_web(sign_up="open", github_client_secret=secret, **offered)
        turned_away(web)
        assert come_back(web, **double.authorise(lead(web))).location == HISTORY


@pytest.mark.parametrize("elsewhere", [
    "https://evil.example/", "//evil.example", "////evil.example/x", "/\\evil.example", "javascript:alert(1)", "/" + "a" * 500,
])  # fmt: skip
def test_no_way_in_leads_to_another_site(web: Web, elsewhere: str) -> None:
    person(web)
    web.client.get("/sign-in", query_string={"next": elsewhere})
    assert send(web, "/sign-in/password").location == "/"


def test_the_way_back_survives_a_wrong_password_and_a_change_of_mind(web: Web) -> None:
    turned_away(web, "/bookmarks")
    assert send(web, "/sign-in/password").status_code == 401
    for page in ("/forgot", "/sign-up", "/sign-in"):
        web.client.get(page)
    assert send(web, "/sign-up").location == "/bookmarks"


def visit(web: Web, name: str) -> str:
    """What a visitor submits through the form; its job."""
    answer = web.post("/analyses", repository=f"acme/{name}")
    assert answer.status_code == 303, answer.text
    return str(answer.location.rpartition("/")[2])


def history(web: Web) -> dict[str, str]:
    token = web.token(accounts.find_person(web.uow, EMAIL).user_id)
    found = web.client.get("/api/v1/me/history", headers=token).json["items"]
    return {item["id"]: item["status"] for item in found}


BILLS = """
    SELECT (SELECT json_agg(e ORDER BY id) #>> '{}' FROM usage_events e),
           (SELECT json_agg(q ORDER BY job_id) #>> '{}' FROM quota_reservations q),
           (SELECT string_agg(concat(group_name, rank, queue_id), ',' ORDER BY task_id) FROM broker_message)"""


@pytest.mark.parametrize("way", few(2, WAYS))
def test_what_the_browser_submitted_as_a_visitor_is_in_the_history_of_the_account(
    web: Web, way: Callable[[Web], Any]
) -> None:
    done, waiting = visit(web, "shop"), ""
    web.completed(done)
    waiting = visit(web, "till")
    before = rows(web, BILLS)
    assert way(web).status_code == 303
    assert history(web) == {done: "completed", waiting: "queued"}
    assert rows(web, BILLS) == before  # nothing is billed again, and the job waits where it waited
    web.completed(waiting)
    (payer,) = {row.user_id for row in rows(web, "SELECT user_id FROM usage_events")}
    assert payer != accounts.find_person(web.uow, EMAIL).user_id
    assert [finding.number for finding in audit(web.uow) if finding.status != "holds"] == []
    assert web.client.get(f"/analyses/{done}").status_code == 200


def test_nothing_of_others_behind_the_same_address_is_taken_over(web: Web) -> None:
    neighbour = web.app.test_client()
    form = {"csrf_token": csrf(neighbour.get("/")), "repository": "acme/theirs"}
    assert neighbour.post("/analyses", data=form).status_code == 303
    mine = visit(web, "mine")
    send(web, "/sign-up")
    assert set(history(web)) == {mine}


def test_two_accounts_are_never_merged(web: Web) -> None:
    send(web, "/sign-up", "eve@example.org")
    theirs = visit(web, "theirs")
    # as if the browser still remembered the job of an account
    with web.client.session_transaction() as cookie:
        cookie["mine"] = [theirs]
    send(web, "/sign-up")
    assert history(web) == {}


def test_a_job_that_the_visitor_cancelled_or_that_is_there_already_is_not_taken_over(web: Web) -> None:
    cancelled = visit(web, "shop")
    assert web.post(f"/analyses/{cancelled}/cancel").status_code == 303
    own = person(web)
    token = web.token(own.user_id)
    both = web.submit("till", token).json["id"]
    assert visit(web, "till") == both
    send(web, "/sign-in/password")
    assert set(history(web)) == {both}
    (row,) = rows(web, "SELECT role FROM analysis_requests WHERE user_id = :user", user=own.user_id)
    assert row.role == "payer"


def test_an_account_that_took_a_job_over_may_leave_it_and_be_deleted(web: Web) -> None:
    job = visit(web, "shop")
    send(web, "/sign-up")
    assert web.post(f"/analyses/{job}/cancel").status_code == 303
    assert rows(web, "SELECT 1 FROM broker_message") != []  # the visitor still wants it
    forget(web.uow, accounts.find_person(web.uow, EMAIL).user_id, actor="test", now=now())
    (payer,) = rows(web, "SELECT user_id, cancelled_at FROM analysis_requests WHERE job_id = :job", job=UUID(job))
    assert payer.user_id is not None
    assert payer.cancelled_at is None


def test_the_start_page_offers_an_account_where_people_may_create_one(make_web: Callable[..., Web]) -> None:
    offered = 'href="/sign-up"'
    web = make_web(sign_up="open")
    assert offered in web.client.get("/").text
    send(web, "/sign-up")
    assert offered not in web.client.get("/").text
    assert offered not in make_web(sign_up="closed").client.get("/").text


@pytest.mark.parametrize(("page", "is_kept"), [("/history", True), ("/sign-in", False)])
def test_a_form_that_was_sent_after_the_session_had_ended_leads_back(web: Web, page: str, is_kept: bool) -> None:
    web.sign_in(person(web))
    token = csrf(web.client.get("/account"))
    with web.uow.begin() as tx:
        tx.run(text("DELETE FROM sessions"))
    sent = {"csrf_token": token, "name": "CI"}
    answer = web.client.post("/tokens", data=sent, headers={"Referer": f"http://localhost{page}"})
    assert answer.status_code == 401
    assert ("/sign-in?next=/history" in answer.text) is is_kept


def test_the_sign_in_page_sends_nobody_to_a_command_line(web: Web) -> None:
    assert "fairlane user" not in web.client.get("/sign-in").text


def test_explore_says_what_it_does_not_show_to_visitors(make_web: Callable[..., Web], tmp_path: Any) -> None:
    hidden = "listed for people with an account only"
    web = make_web(local_repos_root=tmp_path)
    page = web.client.get("/explore").text
    assert hidden in page
    assert "Nothing was analysed here yet" not in page
    web.sign_in(web.user())
    assert hidden not in web.client.get("/explore").text
    assert hidden not in make_web(local_repos_root=None).client.get("/explore").text


def test_a_specification_stays_on_no_disk(web: Web) -> None:
    own = person(web)
    token = web.token(own.user_id)
    job = web.submit("shop", token).json["id"]
    web.completed(job)
    spec = web.client.post("/api/v1/specs", json={"analysis_id": job}, headers=token).json["id"]
    web.written(spec)
    for path in ("", ".md", ".html", ".json", ".zip", "/timeline"):
        with web.client.get(f"/api/v1/specs/{spec}{path}", headers=token) as answer:
            assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store"), path
            assert answer.data
    assert json.loads(web.client.get("/api/v1/specs", headers=token, query_string={"analysis_id": job}).text)["items"]
