"""Which names the service answers to: a page of another name must not read it through somebody's browser."""

from __future__ import annotations

import pytest
from service_harness.application import Web

from app.settings import Settings
from tests.web.serving import raw, serving

REBOUND = "evil.example"


def ask_as(web: Web, host: str, path: str = "/api/v1/openapi.json") -> int:
    return web.client.get(path, headers={"Host": host}).status_code


@pytest.mark.parametrize(
    "path", ["/", "/api/v1/analyses/x", "/healthz", "/metrics", "/static/fairlane.css", "/nothing"]
)
def test_a_name_that_is_not_ours_is_refused_everywhere(web: Web, path: str) -> None:
    answer = web.client.get(path, headers={"Host": REBOUND})
    assert answer.status_code == 400
    assert "PUBLIC_URL" in answer.text
    assert REBOUND not in answer.text


def test_the_refusal_is_a_problem(web: Web) -> None:
    answer = web.client.get("/api/v1/me", headers={"Host": REBOUND})
    assert (answer.content_type, answer.json["type"]) == ("application/problem+json", "/problems/unknown-host")


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:8000", "LOCALHOST", "127.0.0.1:8000", "10.2.3.4", "[::1]:8000", "[fd00::1]", "[::1]"],
)
def test_localhost_and_addresses_are_ours(web: Web, host: str) -> None:
    assert ask_as(web, host) == 200


@pytest.mark.parametrize(
    "host",
    ["localhost.evil.example", "evil-localhost", "127.0.0.1.evil.example", "[::1].evil.example", "a b", "", "localhost:x",
     "localhost:8000@evil.example", "evil.example:8000", "evil.example#localhost", "0x7f000001", "[::1%25eth0]x"],
)  # fmt: skip
def test_what_only_looks_like_ours_is_refused(web: Web, host: str) -> None:
    assert ask_as(web, host) == 400


def test_the_public_name_and_those_of_the_setting_are_ours(make_web) -> None:  # type: ignore[no-untyped-def]
    named = Settings.model_validate({"trusted_hosts": "web, .Internal.example"}).trusted_hosts
    web: Web = make_web(public_url="https://Jobs.Example.org:8443/", trusted_hosts=named)
    for ours in (
        "jobs.example.org",
        "jobs.example.org:8443",
        "web:8000",
        "a.internal.example",
        "internal.example",
        "localhost",
    ):
        assert ask_as(web, ours) == 200, ours
    for other in ("example.org", "a.jobs.example.org", "notinternal.example", REBOUND):
        assert ask_as(web, other) == 400, other


def test_behind_a_proxy_the_name_that_the_proxy_tells_counts(make_web) -> None:  # type: ignore[no-untyped-def]
    web: Web = make_web(public_url="https://jobs.example.org", trust_proxy=True)
    told = {"Host": "10.0.0.7:8000", "X-Forwarded-Host": "jobs.example.org"}
    assert web.client.get("/healthz", headers=told).status_code == 200
    assert web.client.get("/healthz", headers=told | {"X-Forwarded-Host": REBOUND}).status_code == 400


FORGED = (
    "SCRIPT_NAME: /metrics", "Script-Name: /metrics", "script_name: /metrics", "PATH_INFO: /metrics", "Path-Info: /metrics",
    "X-Script-Name: /metrics", "X-Forwarded-Prefix: /metrics", "X_Forwarded_Prefix: /metrics", "Proxy: http://evil.example",
    "X-Forwarded-Host: evil.example", "X_Forwarded_Host: evil.example", "X-Forwarded-Proto: https",
    "X_FORWARDED_PROTO: https", "X-Forwarded-Protocol: ssl", "X-Forwarded-Ssl: on", "Forwarded: host=evil.example;proto=https",
    "X-Original-URL: /metrics", "X-Rewrite-URL: /metrics", "REMOTE_ADDR: 203.0.113.9", "REMOTE_USER: root",
    "wsgi.url_scheme: https", "X-Forwarded-For: 203.0.113.9",
)  # fmt: skip


@pytest.mark.proof
@pytest.mark.parametrize("trusts", ["false", "true"])
def test_no_header_of_a_client_moves_the_path_the_host_or_the_scheme(
    web: Web,
    database_url: str,
    tmp_path,
    trusts: str,  # type: ignore[no-untyped-def]
) -> None:
    del web
    of_proxy = ("X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-For", "X-Forwarded-Prefix")
    with serving(database_url, tmp_path, TRUST_PROXY=trusts) as port:
        for header in FORGED:
            if trusts == "true" and header.startswith(of_proxy[:3]):
                continue  # what the proxy says
            for path in ("/problems/x", "/metrics/problems/x"):
                answer = raw(
                    port, f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{header}\r\nConnection: close\r\n\r\n".encode()
                )
                head, _, body = answer.partition(b"\r\n\r\n")
                assert b"fairlane_queue_depth" not in body, header
                assert b"evil.example" not in answer, header
                assert b"Strict-Transport-Security" not in head.title(), header
                if path == "/problems/x":
                    assert b" 302 " in head.split(b"\r\n")[0], (header, head)
                    assert b"location: /docs/api" in head.lower(), (header, head)
                else:
                    assert b" 404 " in head.split(b"\r\n")[0], (header, head)
