"""Signing up and in with a password, through the pages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from service_harness.application import Web, csrf
from sqlalchemy import text
from werkzeug.test import TestResponse

from app.domain.plans import Tier
from app.services.accounts import passwords, sign_up
from tests.rate_buckets import refill_nothing

EMAIL, PASSWORD = "ann@example.org", "correct horse battery"


@pytest.fixture
def web(make_web: Callable[..., Web]) -> Web:
    return make_web(sign_up="open", default_tier=Tier.PRO)


def send(web: Web, path: str, email: str = EMAIL, password: str = PASSWORD) -> TestResponse:
    page = path.removesuffix("/password")
    return web.post(path, page, email=email, password=password)


def sessions(web: Web) -> int:
    with web.uow.begin() as tx:
        return int(tx.run(text("SELECT count(*) FROM sessions")).scalar_one())


def cookie(web: Web) -> str:
    found = web.client.get_cookie("fairlane")
    assert found is not None
    return found.value


def test_a_person_signs_up_out_and_in_again(web: Web) -> None:
    made = send(web, "/sign-up")
    assert (made.status_code, made.location) == (303, "/")
    assert EMAIL in web.client.get("/").text
    with web.uow.begin() as tx:
        assert tx.run(text("SELECT tier::text FROM user_subscriptions")).scalars().all() == ["pro"]
    web.post("/sign-out")
    assert EMAIL not in web.client.get("/").text
    assert send(web, "/sign-in/password", EMAIL.upper()).status_code == 303
    assert EMAIL in web.client.get("/").text
    assert web.client.get("/operator").status_code == 403


def test_the_session_and_its_form_token_are_new_after_signing_in(web: Web) -> None:
    send(web, "/sign-up")
    before, form = cookie(web), csrf(web.client.get("/"))
    # signing in again, as somebody whose browser was given a cookie that another person knows
    answer = web.client.post("/sign-in/password", data={"csrf_token": form, "email": EMAIL, "password": PASSWORD})
    assert answer.status_code == 303
    assert cookie(web) != before
    assert sessions(web) == 1  # the one of before is over
    refused = web.client.post("/sign-out", data={"csrf_token": form})
    assert refused.status_code == 400
    stranger = web.app.test_client()
    stranger.set_cookie("fairlane", before)
    assert EMAIL not in stranger.get("/").text


@pytest.mark.parametrize("path", ["/sign-in/password", "/sign-up"])
def test_a_form_without_its_csrf_token_changes_nothing(web: Web, path: str) -> None:
    send(web, "/sign-up")
    web.post("/sign-out")
    before = sessions(web)
    for data in ({}, {"csrf_token": "x" * 90}, {"csrf_token": csrf(web.app.test_client().get("/sign-in"))}):
        answer = web.client.post(path, data={"email": "eve@example.org", "password": PASSWORD, **data})
        assert answer.status_code == 400
    assert sessions(web) == before


def test_refusals_are_pages_that_say_the_same_for_each_reason_and_never_the_password(web: Web) -> None:
    send(web, "/sign-up")
    web.post("/sign-out")
    web.user()
    pages = set()
    for email in (EMAIL, "nobody@example.org", "<script>@example.org", "a\r\nSet-Cookie: b=c"):
        answer = send(web, "/sign-in/password", email, "a wrong password")
        assert answer.status_code == 401
        assert "a wrong password" not in answer.text
        assert "<script>@" not in answer.text
        assert "b=c" not in str(answer.headers)
        pages.add(answer.text.split('role="alert">')[1].split("<")[0])
    assert pages == {passwords.WRONG}


def test_a_taken_address_and_a_bad_password_are_told_on_the_form_which_keeps_the_address(web: Web) -> None:
    web.user()
    send(web, "/sign-up")
    web.post("/sign-out")
    taken = send(web, "/sign-up", password="the password of somebody else")
    assert taken.status_code == 409
    assert sign_up.TAKEN in taken.text.replace("&#39;", "'")
    short = send(web, "/sign-up", "eve@example.org", "short")
    assert short.status_code == 422
    assert 'value="eve@example.org"' in short.text
    assert "10 to 200 characters" in short.text
    assert 'value="short"' not in short.text


def test_too_many_attempts_are_refused_until_later_whoever_asks(web: Web) -> None:
    answers = []
    for _ in range(passwords.PER_ACCOUNT + 3):
        refill_nothing(web.uow)
        answers.append(send(web, "/sign-in/password", password="a wrong password"))
    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused
    assert all(int(answer.headers["Retry-After"]) > 0 for answer in refused)
    refill_nothing(web.uow)
    # a header that anybody can send makes no other client of this one
    forged = web.client.post(
        "/sign-in/password",
        data={"csrf_token": csrf(web.client.get("/sign-in")), "email": EMAIL, "password": PASSWORD},
        headers={"X-Forwarded-For": "203.0.113.9"},
    )
    assert forged.status_code == 429


def test_where_sign_up_is_closed_there_is_no_way_in(make_web: Callable[..., Web]) -> None:
    web = make_web()
    assert "/sign-up" not in web.client.get("/sign-in").text
    page = web.client.get("/sign-up")
    assert "created by its operator" in page.text
    assert 'name="password"' not in page.text
    assert web.post("/sign-up", "/sign-in", email=EMAIL, password=PASSWORD).status_code == 403
    with web.uow.begin() as tx:
        assert tx.run(text("SELECT count(*) FROM users WHERE kind = 'person'")).scalar_one() == 0


def test_people_sign_in_where_visitors_may_do_nothing(make_web: Callable[..., Web]) -> None:
    web = make_web(allow_anonymous=False, sign_up="open")
    assert send(web, "/sign-up").status_code == 303
    web.post("/sign-out")
    assert send(web, "/sign-in/password").status_code == 303
