"""Nothing that a form or a link asks for leads to another site."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.utils import redirect

from app.web.core.local_paths import local_path

ELSEWHERE = [
    "https://x.example/", "//x.example", "///x.example", "////x.example/y", "/////x.example", "/\\x.example", "\\\\x.example",
    "/\\/x.example", "//\\x.example", "/a\\..\\x", "x", "", " /x", "javascript:alert(1)", "/a\r\nb", "/\t/x.example",
    "/\n/x.example", "\t//x.example", "/\x00/x", "/a?b=\r\nc", "/%2Fx.example", "/%2f%2fx.example", "/%5Cx.example",
    "/%09/x.example", "/a%0d%0aSet-Cookie:x", "/\u2028/x", "http:/x.example", "/%00",
    "/..//x.example", "/.//x.example", "/a/../..//x.example", "/%2e%2E//x.example", "/a/..",
]  # fmt: skip
OURS = [
    "/",
    "/explore?q=a",
    "/explore?q=a%5Cb%2F&x=//y",
    "/repositories/github.com/acme/shop",
    "/저장소?q=값",
    "/a#b",
    "/a//b",
    "/compare/v1...v2?x=/../y",
]


@pytest.mark.parametrize("asked", ELSEWHERE)
def test_an_address_of_another_site_becomes_the_start_page(asked: str) -> None:
    assert local_path(asked) == "/"


@pytest.mark.parametrize("asked", OURS)
def test_a_path_of_this_service_stays_as_it_is(asked: str) -> None:
    assert local_path(asked) == asked


@given(st.text(st.sampled_from("/\\.%25fF5cC09?#@:; \t\r\n\x00evil"), max_size=12).map("/".__add__))
def test_the_header_of_a_redirect_names_no_host_whatever_is_asked(asked: str) -> None:
    location = redirect(local_path(asked), 303).get_wsgi_headers({"REQUEST_METHOD": "GET"})["Location"]
    assert re.match(r"/(?![/\\])[^\\\x00-\x20]*$", location), (asked, location)
