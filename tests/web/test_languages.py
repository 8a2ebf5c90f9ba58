"""Which language a page is in, and how it is chosen."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from service_harness.application import Web, csrf

ENGLISH, KOREAN = "without running them", "실행하지 않고"


def footer(web: Web, **headers: str) -> str:
    return web.client.get("/sign-in", headers=headers).text


def test_a_page_is_in_the_language_that_the_browser_accepts(web: Web) -> None:
    korean = footer(web, **{"Accept-Language": "fr, ko-KR;q=0.9, en;q=0.8"})
    assert '<html lang="ko">' in korean
    assert KOREAN in korean
    for other in ("fr", "en-GB, ko;q=0.5", "*", ""):
        page = footer(web, **{"Accept-Language": other})
        assert '<html lang="en">' in page, other
        assert ENGLISH in page, other


def test_the_footer_stores_a_choice_that_counts_more_than_the_browser(web: Web) -> None:
    answer = web.post("/language", language="ko", to="/explore?q=a")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/explore?q=a")
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert KOREAN in footer(web, **{"Accept-Language": "en"})
    web.post("/language", language="en", to="/")
    assert ENGLISH in footer(web, **{"Accept-Language": "ko"})


def test_a_visitor_chooses_a_language_where_visitors_may_do_nothing_else(make_web: Callable[..., Web]) -> None:
    web = make_web(allow_anonymous=False)
    answer = web.post("/language", "/sign-in", language="ko", to="/sign-in")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/sign-in")
    assert KOREAN in footer(web, **{"Accept-Language": "en"})


def test_a_language_without_pages_is_refused_and_a_strange_cookie_ignored(web: Web) -> None:
    assert web.post("/language", language="xx").status_code == 422
    web.client.set_cookie("language", "../../x")
    assert ENGLISH in footer(web)


@pytest.mark.parametrize(
    "asked", ["https://x.example/", "//x.example", "///x.example/a", "////x.example/a", "/\\x.example"]
)
def test_the_choice_leads_to_no_other_site(web: Web, asked: str) -> None:
    answer = web.post("/language", "/explore", language="ko", to=asked)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")


def test_a_form_of_another_site_changes_no_language(web: Web) -> None:
    for token in ({}, {"csrf_token": "x" * 90}, {"csrf_token": csrf(web.app.test_client().get("/explore"))}):
        answer = web.client.post("/language", data={"language": "ko", "to": "/explore", **token})
        assert (answer.status_code, answer.headers.getlist("Location")) == (400, []), token
        assert not any(cookie.startswith("language=") for cookie in answer.headers.getlist("Set-Cookie")), token


def test_a_shared_page_that_sends_no_referrer_can_be_read_in_another_language(web: Web) -> None:
    https = "https://localhost/"
    page = web.client.get("/shared/fs_unknown", base_url=https)
    assert page.headers["Referrer-Policy"] == "no-referrer"
    sent = {"csrf_token": csrf(page), "language": "ko", "to": "/shared/fs_unknown"}
    answer = web.client.post("/language", data=sent, base_url=https)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/shared/fs_unknown")


def test_pages_vary_by_language_and_the_api_speaks_english(web: Web) -> None:
    page = web.client.get("/sign-in", headers={"Accept-Language": "ko"})
    assert {"accept-language", "cookie"} <= {name.lower() for name in page.vary}
    refused = web.client.get("/api/v1/analyses/0", headers={"Accept-Language": "ko"})
    assert refused.json["detail"].isascii()
