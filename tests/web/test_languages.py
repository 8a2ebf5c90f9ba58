"""Which language a page is in, and how it is chosen."""

from __future__ import annotations

import pytest

from app.web.languages import local_path
from tests.web.conftest import Web

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
    answer = web.client.post("/language", data={"language": "ko", "to": "/explore?q=a"})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/explore?q=a")
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert KOREAN in footer(web, **{"Accept-Language": "en"})
    web.client.post("/language", data={"language": "en", "to": "/"})
    assert ENGLISH in footer(web, **{"Accept-Language": "ko"})


def test_a_language_without_pages_is_refused_and_a_strange_cookie_ignored(web: Web) -> None:
    assert web.client.post("/language", data={"language": "xx"}).status_code == 422
    web.client.set_cookie("language", "../../x")
    assert ENGLISH in footer(web)


@pytest.mark.parametrize("given", ["https://x.example/", "//x.example", "/\\x.example", "x", "", "/a\r\nb", "/\t/x"])
def test_the_choice_leads_to_no_other_site(given: str) -> None:
    assert local_path(given) == "/"


def test_pages_vary_by_language_and_the_api_speaks_english(web: Web) -> None:
    page = web.client.get("/sign-in", headers={"Accept-Language": "ko"})
    assert {"accept-language", "cookie"} <= {name.lower() for name in page.vary}
    refused = web.client.get("/api/v1/analyses/0", headers={"Accept-Language": "ko"})
    assert refused.json["detail"].isascii()
