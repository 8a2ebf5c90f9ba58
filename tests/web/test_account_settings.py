"""The page of one's own account: password, sessions, a copy of the data, deletion."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient
from service_harness.application import Web, csrf

from app.services.accounts import passwords
from app.services.accounts.accounts import Account
from app.store.accounts import exporting
from tests.web.conftest import rows
from tests.web.test_passwords import EMAIL, PASSWORD, cookie, send

NEW = "another long password"
FORMS = ("/account/password", "/account/delete", "/account/sessions/00000000-0000-0000-0000-000000000000/end")


@pytest.fixture
def web(make_web: Callable[..., Web]) -> Web:
    web = make_web(sign_up="open")
    send(web, "/sign-up")
    return web


def other_browser(web: Web) -> FlaskClient:
    other = web.app.test_client()
    form = {"csrf_token": csrf(other.get("/sign-in")), "email": EMAIL, "password": PASSWORD}
    assert other.post("/sign-in/password", data=form).status_code == 303
    return other


def test_another_password_signs_the_other_browsers_out_and_not_this_one(web: Web) -> None:
    other = other_browser(web)
    assert EMAIL in other.get("/").text
    answer = web.post("/account/password", "/account", current=PASSWORD, password=NEW)
    assert answer.status_code == 303
    assert "was changed" in web.client.get(answer.location).text
    assert EMAIL not in other.get("/").text
    web.post("/sign-out")
    assert send(web, "/sign-in/password").status_code == 401
    assert send(web, "/sign-in/password", password=NEW).status_code == 303


@pytest.mark.parametrize(("fields", "told"), [
    ({"current": "a wrong password", "password": NEW}, "current password is wrong"),
    ({"password": NEW}, "current password is wrong"), ({"current": PASSWORD}, "10 to 200 characters"),
    ({"current": PASSWORD, "password": EMAIL}, "must not be the e-mail address"),
])  # fmt: skip
def test_a_refused_change_is_told_beside_the_form(web: Web, fields: dict[str, str], told: str) -> None:
    answer = web.post("/account/password", "/account", **fields)
    assert answer.status_code == 422
    assert told in answer.text
    assert NEW not in answer.text
    web.post("/sign-out")
    assert send(web, "/sign-in/password").status_code == 303


def test_sessions_are_ended_one_by_one(web: Web) -> None:
    other, third = other_browser(web), other_browser(web)
    (first,) = rows(web, "SELECT id FROM sessions ORDER BY created_at OFFSET 1 LIMIT 1")
    page = web.client.get("/account")
    assert page.text.count(">Sign out</button></form>") == 2  # not for this browser
    assert "(this browser)" in page.text
    assert web.post(f"/account/sessions/{first.id}/end", "/account").status_code == 303
    assert [EMAIL in browser.get("/").text for browser in (web.client, other, third)] == [True, False, True]


def test_nobody_ends_the_session_of_another_person(web: Web) -> None:
    (session,) = rows(web, "SELECT id FROM sessions")
    eve = web.app.test_client()
    form = {"csrf_token": csrf(eve.get("/sign-up")), "email": "eve@example.org", "password": PASSWORD}
    assert eve.post("/sign-up", data=form).status_code == 303
    answer = eve.post(f"/account/sessions/{session.id}/end", data={"csrf_token": csrf(eve.get("/account"))})
    assert answer.status_code == 404
    assert EMAIL in web.client.get("/").text


@pytest.mark.parametrize("path", FORMS)
def test_no_form_works_without_its_csrf_token_or_without_a_session(web: Web, path: str) -> None:
    fields = {"email": EMAIL, "current": PASSWORD, "password": NEW}
    web.client.get("/account")  # each page has a form, whose token is in the cookie from then on
    before = cookie(web)
    for token in ({}, {"csrf_token": "x" * 90}, {"csrf_token": csrf(web.app.test_client().get("/"))}):
        assert web.client.post(path, data=fields | token).status_code == 400
    stranger = web.app.test_client()
    assert stranger.post(path, data=fields | {"csrf_token": csrf(stranger.get("/sign-in"))}).status_code == 401
    assert cookie(web) == before
    assert EMAIL in web.client.get("/account").text


@pytest.mark.parametrize("path", ["/account", "/account/export.json"])
def test_the_account_is_shown_to_its_owner_only(web: Web, path: str) -> None:
    assert web.app.test_client().get(path).status_code == 401
    assert web.client.get(path).headers["Cache-Control"] == "no-store"


def test_an_account_is_deleted_by_its_address_and_its_password(web: Web) -> None:
    for fields in ({}, {"email": "eve@example.org", "current": PASSWORD}, {"email": EMAIL, "current": "wrong"}):
        assert web.post("/account/delete", "/account", **fields).status_code == 422
    other = other_browser(web)
    answer = web.post("/account/delete", "/account", email=EMAIL.upper(), current=PASSWORD)
    assert (answer.status_code, answer.location) == (303, "/")
    assert rows(web, "SELECT 1 FROM users WHERE kind = 'person'") == []
    assert rows(web, "SELECT 1 FROM audit_log WHERE CAST(audit_log AS text) LIKE '%ann@%'") == []
    assert [EMAIL in browser.get("/").text for browser in (web.client, other)] == [False, False]
    web.client.delete_cookie("fairlane")
    assert send(web, "/sign-up").status_code == 303  # the address is free again


@pytest.mark.proof
def test_a_stolen_session_cannot_guess_the_password_by_deleting(web: Web) -> None:
    tried = [
        web.post("/account/delete", "/account", email=EMAIL, current="a wrong password").status_code
        for _ in range(passwords.PER_ACCOUNT * 3)
    ]
    assert tried[0] == 422
    assert 429 in tried


def test_a_person_without_a_password_sets_one_and_deletes_by_the_address_alone(make_web: Callable[..., Web]) -> None:
    web = make_web()
    account: Account = web.user()
    web.sign_in(account)
    assert 'name="current"' not in web.client.get("/account").text
    assert web.post("/account/password", "/account", password=NEW).status_code == 303
    assert web.client.get("/account").text.count('name="current"') == 2


def test_the_copy_holds_what_is_stored_and_no_secret(web: Web) -> None:
    (user,) = rows(web, "SELECT id FROM users WHERE kind = 'person'")
    header = web.token(user.id)
    web.completed(web.submit("mine", header).json["id"])
    web.completed(web.submit("strangers").json["id"])
    answer = web.client.get("/account/export.json")
    assert answer.mimetype == "application/json"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="fairlane-account.json"'
    found = answer.json
    assert found["account"][0]["email"] == EMAIL
    assert [request["name"] for request in found["requests"]] == ["mine"]
    assert [len(found[part]) for part in ("usage", "tokens", "sessions", "password")] == [1, 1, 1, 1]
    hashes = rows(
        web,
        "SELECT encode(id_hash, 'hex') AS h FROM sessions UNION SELECT encode(token_hash, 'hex') FROM api_tokens UNION SELECT hash FROM passwords",
    )
    assert len(hashes) == 3
    assert not [row.h for row in hashes if row.h in answer.text]
    assert header["Authorization"].removeprefix("Bearer ") not in answer.text


def test_each_table_that_names_a_user_is_in_the_copy(web: Web) -> None:
    derived = {"usage_sums"}  # of `usage`
    tables = rows(web, """
        SELECT DISTINCT conrelid::regclass::text AS name FROM pg_constraint
         WHERE contype = 'f' AND confrelid = 'users'::regclass""")  # fmt: skip
    queries = " ".join(" ".join(part.query.text for part in exporting._PARTS.values()).split()) + " "
    assert len(tables) > 10
    assert [table.name for table in tables if f"FROM {table.name} " not in queries] == [*derived]
