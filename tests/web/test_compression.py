"""Answers are compressed where it pays, and conditional requests work as without."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from uuid import uuid4

import brotli
import pytest
from backports import zstd
from service_harness.application import Web, without_csrf
from service_harness.inventories import a_test, file
from werkzeug.test import TestResponse

from app.server.answer import PIECE_BYTES
from app.web.core import compression
from app.web.core.static_files import FOR_EVER, digest
from tests.web.serving import serving

UNPACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.decompress,
    "br": brotli.decompress,
    "zstd": zstd.decompress,
}
EXPORTS = {"csv": "text/csv", "ndjson": "application/x-ndjson", "markdown": "text/markdown", "junit": "application/xml"}


@pytest.fixture
def tests_path(web: Web) -> str:
    """Of a result with 300 tests."""
    job = web.submit("shop").json["id"]
    web.completed(job, [file("tests/test_a.py", *(a_test(f"test_{n}", line=n + 1) for n in range(300)))])
    return f"/api/v1/analyses/{job}/tests"


def get(web: Web, path: str, accepts: str | None = None, **headers: str) -> TestResponse:
    sent = headers | ({"Accept-Encoding": accepts} if accepts else {})
    return web.client.get(path, headers={name.replace("_", "-"): value for name, value in sent.items()})


def varies(answer: TestResponse) -> bool:
    return "accept-encoding" in {name.lower() for name in answer.vary}


@pytest.mark.parametrize("encoding", UNPACK)
@pytest.mark.parametrize("what", ["page", "json", "css", "svg text"])
def test_a_client_gets_what_it_accepts_and_it_says_the_same(
    web: Web, tests_path: str, encoding: str, what: str
) -> None:
    path = {
        "page": "/docs/api", "json": tests_path, "css": "/static/fairlane.css", "svg text": "/api/v1/openapi.json",
    }[what]  # fmt: skip
    plain, packed = get(web, path), get(web, path, encoding)
    assert plain.headers.get("Content-Encoding") is None
    assert packed.headers["Content-Encoding"] == encoding
    assert varies(plain)
    assert varies(packed)
    assert without_csrf(UNPACK[encoding](packed.data).decode()) == without_csrf(plain.text)
    assert int(packed.headers["Content-Length"]) == len(packed.data) < len(plain.data) / 2
    assert packed.content_type == plain.content_type


@pytest.mark.parametrize(
    ("accepts", "used"),
    [
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip, deflate, br", "br"),
        ("gzip;q=1.0, br;q=0.5", "gzip"),
        ("gzip;q=0, identity", None),
        ("deflate", None),
        ("identity", None),
    ],
)
def test_the_encoding_is_the_one_that_the_client_prefers(web: Web, accepts: str, used: str | None) -> None:
    assert get(web, "/docs/api", accepts).headers.get("Content-Encoding") == used


def test_a_short_answer_is_sent_as_it_is(web: Web) -> None:
    for path in ("/healthz", "/static/favicon.svg", "/api/v1/usage"):
        answer = get(web, path, "gzip")
        assert len(answer.data) < compression.SMALLEST
        assert answer.headers.get("Content-Encoding") is None
        assert varies(answer)


@pytest.mark.parametrize("encoding", UNPACK)
def test_each_encoding_has_an_etag_and_gets_304(web: Web, tests_path: str, encoding: str) -> None:
    plain, packed = get(web, tests_path), get(web, tests_path, encoding)
    assert plain.headers["ETag"] != packed.headers["ETag"]
    assert get(web, tests_path, If_None_Match=plain.headers["ETag"]).status_code == 304
    again = get(web, tests_path, encoding, If_None_Match=packed.headers["ETag"])
    assert (again.status_code, again.data, varies(again)) == (304, b"", True)
    assert again.headers.get("Content-Encoding") is None
    assert again.headers["ETag"] == packed.headers["ETag"]
    assert get(web, tests_path, If_None_Match=packed.headers["ETag"]).status_code == 200
    assert get(web, tests_path, encoding, If_None_Match='"other"').status_code == 200


@pytest.mark.parametrize("form", EXPORTS)
def test_an_export_is_compressed_as_it_is_sent(web: Web, tests_path: str, form: str) -> None:
    plain, packed = (get(web, f"{tests_path}?format={form}", accepts) for accepts in (None, "br, gzip"))
    assert (plain.mimetype, packed.mimetype) == (EXPORTS[form], EXPORTS[form])
    assert plain.headers.get("Content-Encoding") is None
    assert packed.headers["Content-Encoding"] == "gzip"
    assert (varies(plain), varies(packed)) == (True, True)
    assert gzip.decompress(packed.data) == plain.data
    assert packed.headers["Content-Disposition"] == plain.headers["Content-Disposition"]


def test_an_export_that_is_not_read_to_its_end_gives_its_place_back(web: Web, tests_path: str) -> None:
    for _ in range(20):  # more than there are places
        answer = web.client.get(f"{tests_path}?format=csv", headers={"Accept-Encoding": "gzip"}, buffered=False)
        assert answer.status_code == 200
        next(iter(answer.response))
        answer.close()


@pytest.mark.proof
def test_the_real_server_sends_an_export_whose_pieces_different_threads_compress(
    web: Web, database_url: str, tmp_path: Path
) -> None:
    job = web.submit("shop").json["id"]
    files = [
        file(f"tests/test_{n}.py", *(a_test(f"test_{n}_{uuid4().hex}", line=line) for line in range(1, 501)))
        for n in range(20)
    ]
    web.completed(job, files)
    path = f"/api/v1/analyses/{job}/tests?format=ndjson"
    with serving(database_url, tmp_path) as port, closing(HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        bodies = []
        for accepts in ("identity", "gzip"):
            connection.request("GET", path, headers={"Accept-Encoding": accepts})
            bodies.append(connection.getresponse().read())
    plain, packed = bodies
    assert len(packed) > 3 * PIECE_BYTES
    assert gzip.decompress(packed) == plain == get(web, path).data


def test_events_are_not_compressed(web: Web, tests_path: str) -> None:
    answer = web.client.get(tests_path.replace("/tests", "/events"), headers={"Accept-Encoding": "gzip, br, zstd"})
    assert (answer.mimetype, answer.headers.get("Content-Encoding")) == ("text/event-stream", None)
    answer.close()


def test_a_head_says_what_a_get_would(web: Web) -> None:
    shown = get(web, "/docs/api", "gzip")
    head = web.client.head("/docs/api", headers={"Accept-Encoding": "gzip"})
    assert (head.data, head.headers["Content-Encoding"]) == (b"", "gzip")
    assert abs(int(head.headers["Content-Length"]) - len(shown.data)) < 100  # its form token differs


def test_who_asks_for_a_part_gets_the_whole(web: Web) -> None:
    whole = get(web, "/static/fairlane.css").data
    answer = get(web, "/static/fairlane.css", "gzip", Range="bytes=10-19")
    assert (answer.status_code, gzip.decompress(answer.data)) == (200, whole)


@pytest.mark.parametrize("encoding", [None, *UNPACK])
def test_a_file_by_its_digest_is_kept_for_ever_and_by_its_name_alone_is_asked_for_again(
    web: Web, encoding: str | None
) -> None:
    path = "/static/fairlane.css"
    by_digest = get(web, f"{path}?v={digest('fairlane.css')}", encoding)
    assert by_digest.headers["Cache-Control"] == FOR_EVER
    for other in (path, f"{path}?v={digest('job.js')}", f"{path}?v="):
        answer = get(web, other, encoding)
        assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-cache")
        again = get(web, other, encoding, If_None_Match=answer.headers["ETag"])
        assert (again.status_code, again.data, again.headers["Cache-Control"]) == (304, b"", "no-cache")


def test_pages_name_files_by_their_digest(web: Web) -> None:
    page = web.client.get("/docs/api").text
    assert f"/static/fairlane.css?v={digest('fairlane.css')}" in page


@pytest.mark.parametrize("path", ["/static/nothing.css", "/static/nothing.css?v=1", "/static/../wiring.py?v=1"])
def test_a_file_that_does_not_exist_is_404_and_not_kept(web: Web, path: str) -> None:
    answer = get(web, path, "gzip")
    assert (answer.status_code, answer.headers["Cache-Control"]) == (404, "no-store")
