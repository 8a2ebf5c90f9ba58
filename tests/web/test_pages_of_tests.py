"""The page of one test: what it is, and its history in the repository."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime
from urllib.parse import urlencode

import pytest
from service_harness.application import Web
from service_harness.inventories import a_test, file
from sqlalchemy import text

from app.services.results import read_test_history
from app.store.analyses.inventories import FileRow


def done(web: Web, ref: str, *files: FileRow, at: int, headers: dict[str, str] | None = None) -> str:
    """A completed analysis of a commit of that day."""
    job_id: str = web.submit("shop", headers, ref=ref).json["id"]
    web.completed(job_id, list(files))
    with web.uow.begin() as tx:
        tx.run(
            text("UPDATE analyses SET committed_at = :day WHERE id = :id"),
            day=datetime(2026, 10, at, tzinfo=UTC), id=job_id,
        )  # fmt: skip
    return job_id


def page_of(web: Web, job_id: str, file: str = "a.py", name: str = "test_a", suites: tuple[str, ...] = ()) -> str:
    known_by = [("file", file), *(("suite", suite) for suite in suites), ("name", name)]
    return f"/analyses/{job_id}/test?{urlencode(known_by)}"


def rows(page: str) -> list[list[str]]:
    """The table of the history, as text."""
    body = page.partition("<tbody>")[2].partition("</tbody>")[0]
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in body.split("</tr>")[:-1]]
    return [[" ".join(html.unescape(re.sub(r"<[^>]+>", " ", cell)).split()) for cell in row] for row in cells]


def test_each_row_of_a_result_leads_to_the_page_of_its_test(web: Web) -> None:
    test = a_test("adds <b>& removes</b>", suites=("Cart", "when/empty?"), line=7, status="skipped")
    job_id = done(web, "one", file("tests/ü b.py", test), at=1)
    link = re.search(r'<a class="quiet" href="([^"]+)"', web.client.get(f"/analyses/{job_id}").text)
    assert link
    page = web.client.get(html.unescape(link[1]))
    assert page.status_code == 200
    assert "adds &lt;b&gt;&amp; removes&lt;/b&gt;</h1>" in page.text
    assert '<span class="suite">when/empty? \u203a</span>' in page.text
    assert "tests/%C3%BC%20b.py#L7" in page.text
    assert '<span class="tag skipped">skipped</span>' in page.text


def test_the_history_says_since_when_and_what_else_changed_then(web: Web) -> None:
    first = done(web, "one", file("a.py", a_test("test_b")), at=1)
    second = done(web, "two", file("a.py", a_test("test_a"), a_test("test_b", line=9)), at=2)
    third = done(web, "three", file("a.py", a_test("test_a", line=4)), at=3)
    fourth = done(web, "four", file("a.py", a_test("test_a", status="skipped")), at=4)
    page = web.client.get(page_of(web, third)).text
    found = rows(page)
    assert [(row[0], row[3]) for row in found] == [("skipped", "1"), ("active", "2"), ("not there", "1")]
    assert "2026-10-02" in found[1][1]
    assert "2026-10-03" in found[1][2]
    for before, after in ((third, fourth), (first, second)):
        assert f'href="/analyses/{before}/compare/{after}"' in page
    assert page.count('<rect class="bar') == 4
    assert page.count('height="28"><title>') == 1  # this commit


@pytest.mark.proof
def test_a_test_that_is_not_in_the_result_has_no_page(web: Web) -> None:
    first = done(web, "one", file("a.py", a_test("test_a", suites=("Cart",))), at=1)
    done(web, "two", file("a.py", a_test("test_b")), at=2)
    assert web.client.get(page_of(web, first, suites=("Cart",))).status_code == 200
    for path in (
        page_of(web, first), page_of(web, first, name="test_b"), page_of(web, first, file="b.py", suites=("Cart",)),
    ):  # fmt: skip
        assert web.client.get(path).status_code == 404, path
    assert web.client.get(f"/analyses/{first}/test?name=test_a").status_code == 422
    assert web.client.get(f"/analyses/{first}/test?file=a.py&name=%00").status_code == 422


def test_several_tests_of_one_name_are_all_shown(web: Web) -> None:
    twice = (a_test("test_a", line=3), a_test("test_a", line=30, status="todo"))
    page = web.client.get(page_of(web, done(web, "one", file("a.py", *twice), at=1))).text
    assert "2 tests of this file have this name." in page
    assert "a.py:3</a>" in page
    assert "a.py:30</a>" in page
    assert rows(page)[0][0] == "active , todo"


def test_a_file_that_was_not_read_says_nothing_about_its_tests(web: Web) -> None:
    done(web, "one", file("a.py", skipped="too_large"), at=1)
    second = done(web, "two", file("a.py", a_test("test_a")), at=2)
    assert [row[0] for row in rows(web.client.get(page_of(web, second)).text)] == ["active", "file not read"]


def test_the_commits_of_a_private_repository_are_those_of_the_viewer(web: Web) -> None:
    viewer = web.user()
    somebodys = done(web, "one", file("a.py", a_test("test_a")), at=1, headers=web.token())
    own = done(web, "two", file("a.py", a_test("test_a")), at=2, headers=web.token(viewer.user_id))
    with web.uow.begin() as tx:
        tx.run(text("UPDATE codebases SET is_private = true"))
    assert web.client.get(page_of(web, own)).status_code == 404
    web.sign_in(viewer)
    assert web.client.get(page_of(web, somebodys)).status_code == 404
    page = web.client.get(page_of(web, own)).text
    assert somebodys not in page
    assert rows(page)[0][3] == "1"


def test_a_name_too_long_for_an_address_is_no_link(web: Web) -> None:
    job_id = done(web, "one", file("a.py", a_test("test_" + "x" * 5000)), at=1)
    page = web.client.get(f"/analyses/{job_id}")
    assert page.status_code == 200
    assert 'class="quiet"' not in page.text


def test_a_history_that_was_cut_says_so(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = [done(web, f"commit-{day}", file("a.py", a_test("test_a")), at=day) for day in (1, 2, 3)]
    assert "the test may be older" not in web.client.get(page_of(web, jobs[2])).text
    monkeypatch.setattr(read_test_history, "MOST", 2)
    page = web.client.get(page_of(web, jobs[2])).text
    assert "Only 2 commits were looked at; the test may be older." in page
    assert jobs[1] in page
    assert jobs[0] not in page
