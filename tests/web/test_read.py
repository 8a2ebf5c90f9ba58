"""Reading jobs, their tests, timelines, repositories."""

from __future__ import annotations

import csv
import io
import json
from uuid import uuid4
from xml.etree import ElementTree as ET

import pytest
from service_harness.application import Web
from service_harness.inventories import a_test, file
from sqlalchemy import text

from app.domain import waiting
from app.web.results.exports import NOT_RUN

HOSTILE_NAMES = (
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "=HYPERLINK(1)", "@SUM(A1)", "-1+1", "\uff1d1",
    "evil\u202etxt", "bell\x07 esc\x1b[31m", "a|b `c` [d](javascript:x)", "'; DROP TABLE users; --", "]]>&amp;",
)  # fmt: skip


def job(web: Web, *, headers: dict[str, str] | None = None) -> str:
    job_id: str = web.submit("shop", headers).json["id"]
    return job_id


def hostile(web: Web) -> str:
    job_id = job(web)
    rows = [a_test(name, line=n, suites=(name,)) for n, name in enumerate(HOSTILE_NAMES, 1)]
    web.completed(job_id, [file("=cmd/\u202etest_x.py", *rows)])
    return job_id


def test_a_job_is_read_without_a_token_and_with_an_etag(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "NO_WORKER_AFTER_SECONDS", 600)  # no worker is here, and the machine may be slow
    path = f"/api/v1/analyses/{job(web)}"
    first = web.client.get(path)
    again = web.client.get(path, headers={"If-None-Match": first.headers["ETag"]})
    assert (first.status_code, again.status_code, again.data) == (200, 304, b"")
    web.completed(first.json["id"])
    done = web.client.get(path, headers={"If-None-Match": first.headers["ETag"]})
    assert (done.status_code, done.json["status"], done.json["billed"]) == (200, "completed", True)
    assert done.json["summary"]["tests"] == 3


@pytest.mark.parametrize("tail", ["", "/tests", "/events", "/timeline"])
def test_an_unknown_job_is_404(web: Web, tail: str) -> None:
    for wrong in (uuid4(), "not-a-uuid"):
        answer = web.client.get(f"/api/v1/analyses/{wrong}{tail}")
        assert (answer.status_code, answer.content_type) == (404, "application/problem+json")


@pytest.mark.parametrize("tail", ["", "/tests", "/events", "/timeline"])
def test_a_private_job_is_404_for_strangers_and_there_for_who_asked(web: Web, tail: str) -> None:
    headers = web.token()
    job_id = job(web, headers=headers)
    web.completed(job_id)
    with web.uow.begin() as tx:
        tx.run(text("UPDATE codebases SET is_private = true"))
    operator = web.user(is_operator=True).user_id
    in_office, everyday = web.token(operator, "read", "operator"), web.token(operator)
    for who, status in ((headers, 200), (in_office, 200), (everyday, 404), (web.token(), 404), ({}, 404)):
        answer = web.client.get(f"/api/v1/analyses/{job_id}{tail}", headers=who)
        assert answer.status_code == status
        answer.close()
    assert web.client.get(f"/analyses/{job_id}").status_code == 404


def test_tests_come_in_pages_with_a_total(web: Web) -> None:
    job_id = job(web)
    web.completed(job_id)
    path = f"/api/v1/analyses/{job_id}/tests"
    first = web.client.get(path, query_string={"limit": 2}).json
    rest = web.client.get(path, query_string={"limit": 2, "cursor": first["next"]}).json
    assert [row["name"] for row in first["items"] + rest["items"]] == ["test_adds", "test_removes", "test_rounds"]
    assert (first["total"], rest["total"], rest["next"]) == (3, 3, None)
    assert first["items"][0]["file"] == "tests/test_cart.py"


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({"status": "skipped"}, ["test_removes"]),
        ({"framework": "jest"}, []),
        ({"path": "UNIT/"}, ["test_rounds"]),
        ({"q": "testprice"}, ["test_rounds"]),
        ({"q": "test_", "status": "active"}, ["test_adds"]),
        ({"status": ""}, ["test_adds", "test_removes", "test_rounds"]),
    ],
)
def test_filters_narrow_items_and_total_alike(web: Web, query: dict[str, str], names: list[str]) -> None:
    job_id = job(web)
    web.completed(job_id)
    page = web.client.get(f"/api/v1/analyses/{job_id}/tests", query_string=query).json
    assert [row["name"] for row in page["items"]] == names
    assert page["total"] == len(names)


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=x", "limit=1001", "cursor=%00", "cursor=zzz", "q=%00", "statuz=active", "format=pdf"]
)
def test_a_wrong_query_is_422(web: Web, query: str) -> None:
    job_id = job(web)
    web.completed(job_id)
    answer = web.client.get(f"/api/v1/analyses/{job_id}/tests?{query}")
    assert (answer.status_code, answer.json["errors"][0]["pointer"]) == (422, f"/{query.partition('=')[0]}")


def test_tests_of_an_unfinished_job_are_409(web: Web) -> None:
    assert web.client.get(f"/api/v1/analyses/{job(web)}/tests").status_code == 409
    assert web.client.get(f"/api/v1/analyses/{job(web)}/tests?format=csv").json["status"] == 409


def test_an_unknown_media_type_is_406(web: Web) -> None:
    job_id = job(web)
    web.completed(job_id)
    path = f"/api/v1/analyses/{job_id}/tests"
    assert web.client.get(path, headers={"Accept": "application/pdf"}).status_code == 406
    assert web.client.get(path, headers={"Accept": "text/html, */*;q=0.1"}).is_json


def test_csv_neutralises_formulas_and_shows_hidden_characters(web: Web) -> None:
    answer = web.client.get(f"/api/v1/analyses/{hostile(web)}/tests", headers={"Accept": "text/csv"})
    assert answer.content_type == "text/csv; charset=utf-8"
    assert "attachment" in answer.headers["Content-Disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert len(rows) == len(HOSTILE_NAMES)
    names = [row["name"] for row in rows]
    assert {
        "'=HYPERLINK(1)",
        "'@SUM(A1)",
        "'-1+1",
        "'\uff1d1",
        "evil[U+202E]txt",
        "bell[U+0007] esc[U+001B][31m",
    } <= set(names)
    assert all(cell[:1] not in ("=", "+", "-", "@", "\t", "\r") for row in rows for cell in row.values())
    assert rows[0]["file"] == "'=cmd/[U+202E]test_x.py"
    assert rows[0]["line"] == "1"


def test_json_lines_keep_names_as_they_are(web: Web) -> None:
    answer = web.client.get(f"/api/v1/analyses/{hostile(web)}/tests", headers={"Accept": "application/x-ndjson"})
    names = [json.loads(line)["name"] for line in answer.text.splitlines()]
    assert names == list(HOSTILE_NAMES)


def test_junit_is_well_formed_whatever_the_names(web: Web) -> None:
    answer = web.client.get(f"/api/v1/analyses/{hostile(web)}/tests", headers={"Accept": "application/xml"})
    (suite,) = ET.fromstring(answer.data)
    assert suite.get("tests") == str(len(HOSTILE_NAMES))
    assert suite[0].get("name") == "<script>alert(1)</script>"


def test_junit_is_xml_whatever_characters_a_name_has(web: Web) -> None:
    edges = [0x1, 0x8, 0xB, 0xC, 0xE, 0x1F, 0x7F, 0x9F, 0xFDD0, 0xFDEF, 0xFFFD, 0xFFFE, 0xFFFF, 0x1FFFE, 0x10FFFF]
    names = [f"a{chr(code)}b" for code in edges]
    job_id = web.submit("edges").json["id"]
    web.completed(job_id, [file("tests/\uffff.py", *(a_test(name, suites=("\ufffe",)) for name in names))])
    answer = web.client.get(f"/api/v1/analyses/{job_id}/tests?format=junit")
    (suite,) = ET.fromstring(answer.data)
    assert len(suite) == len(names)
    assert {"a[U+FFFF]b", "a[U+FFFE]b", "a\ufffdb"} <= {case.get("name") for case in suite}


def test_junit_marks_skipped_tests(web: Web) -> None:
    job_id = job(web)
    web.completed(job_id)
    answer = web.client.get(f"/api/v1/analyses/{job_id}/tests?format=junit")
    root = ET.fromstring(answer.data)
    why = {case.get("name"): case.find("skipped").get("message") for case in root.iter("testcase")}  # type: ignore[union-attr]
    assert why.pop("test_removes") == "skipped"  # by its source
    assert why
    assert set(why.values()) == {NOT_RUN}


def test_no_reader_of_junit_takes_a_test_that_was_not_run_for_one_that_passed(web: Web) -> None:
    """Jenkins, GitLab and the reporters of GitHub count a case without an outcome as passed."""
    job_id = job(web)
    statuses = ("active", "skipped", "todo", "focused", "xfail")
    web.completed(job_id, [file("tests/test_all.py", *(a_test(f"test_{one}", status=one) for one in statuses))])
    root = ET.fromstring(web.client.get(f"/api/v1/analyses/{job_id}/tests?format=junit").data)
    cases = list(root.iter("testcase"))
    assert [case for case in cases if case.find("skipped") is None or case.get("status") != "notrun"] == []
    assert {prop.get("value") for prop in root.iter("property") if prop.get("name") == "status"} == set(statuses)
    assert [(suite.get("tests"), suite.get("skipped")) for suite in root] == [("5", "5")]


def test_markdown_escapes_names(web: Web) -> None:
    answer = web.client.get(f"/api/v1/analyses/{hostile(web)}/tests", headers={"Accept": "text/markdown"})
    assert "<script>" not in answer.text
    assert "[d](javascript" not in answer.text
    assert "\u202e" not in answer.text


def test_an_export_holds_all_rows_or_as_many_as_asked(web: Web) -> None:
    job_id = job(web)
    web.completed(job_id, [file("tests/test_many.py", *(a_test(f"test_{n}", line=n) for n in range(1, 2501)))])
    path = f"/api/v1/analyses/{job_id}/tests?format=ndjson"
    assert len(web.client.get(path).text.splitlines()) == 2500
    assert len(web.client.get(f"{path}&limit=7").text.splitlines()) == 7


def test_the_timeline_tells_every_step(web: Web) -> None:
    job_id = job(web)
    web.completed(job_id)
    items = web.client.get(f"/api/v1/analyses/{job_id}/timeline").json["items"]
    assert [item["event"] for item in items] == ["accepted", "started", "completed"]
    assert all(item["at"].endswith("Z") for item in items)


def test_a_repository_shows_its_newest_result_and_the_trend(web: Web) -> None:
    path = "/api/v1/repositories/github.com/ACME/shop"
    assert web.client.get(path).status_code == 404
    job_id = job(web)
    web.completed(job_id)
    found = web.client.get(path)
    assert (found.json["newest"]["id"], len(found.json["history"])) == (job_id, 1)
    assert web.client.get(f"{path}/history").json["items"][0]["id"] == job_id


def test_the_badge_is_an_image_with_the_number(web: Web) -> None:
    web.completed(job(web))
    badge = web.client.get("/api/v1/repositories/github.com/acme/shop/badge.svg")
    assert badge.content_type == "image/svg+xml; charset=utf-8"
    assert "tests: 3" in badge.text


@pytest.mark.parametrize(
    "where", ["github.com/a%00b/c", "-x/a/b", "local/-/..%2f", "local/x/shop", "github.com/a/%E2%80%AE"]
)
def test_an_impossible_repository_is_404(web: Web, where: str) -> None:
    assert web.client.get(f"/api/v1/repositories/{where}").status_code == 404


def test_a_private_repository_has_no_public_result(web: Web) -> None:
    web.completed(job(web))
    with web.uow.begin() as tx:
        tx.run(text("UPDATE codebases SET is_private = true"))
    for tail in ("", "/history", "/badge.svg"):
        assert web.client.get(f"/api/v1/repositories/github.com/acme/shop{tail}").status_code == 404


def test_cancel_is_idempotent_and_refuses_what_has_ended(web: Web) -> None:
    headers = web.token()
    path = f"/api/v1/analyses/{job(web, headers=headers)}"
    assert [web.client.delete(path, headers=headers).status_code for _ in range(2)] == [204, 204]
    assert web.client.get(path).json["status"] == "cancelled"
    assert web.client.get("/api/v1/usage", headers=headers).json["analysis"]["reserved"] == 0
    done = job(web, headers=headers)
    web.completed(done)
    assert web.client.delete(f"/api/v1/analyses/{done}", headers=headers).status_code == 409


def test_a_stranger_cannot_cancel(web: Web) -> None:
    path = f"/api/v1/analyses/{job(web, headers=web.token())}"
    assert web.client.delete(path, headers=web.token()).status_code == 403
    assert web.client.delete(path).status_code == 403
    assert web.client.get(path).json["status"] == "queued"
