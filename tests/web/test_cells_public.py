"""What is public, read in a cell that does not have it."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from uuid import uuid4

import pytest
from service_harness.application import csrf
from werkzeug.test import Client, TestResponse

from app.exchanges import EXCHANGE, received
from app.web.limits.read_costs import READS
from tests.databases import Databases
from tests.web.joined_cells import Joined, away, me, session_in, two_cells


@pytest.fixture(scope="module")
def cells(databases: Databases) -> Iterator[Joined]:
    with two_cells(databases) as made:
        yield made


@pytest.fixture(scope="module")
def public(cells: Joined) -> str:
    """A completed job of cell `a`."""
    job_id: str = cells.a.submit("public", cells.a.token()).json["id"]
    cells.a.completed(job_id)
    return job_id


def test_a_page_of_another_cell_leaves_its_reader_signed_in(cells: Joined, public: str) -> None:
    account = cells.b.user()
    browser = cells.browser(cells.b, account.user_id)
    token = csrf(browser.get("/account"))
    page = browser.get(f"/analyses/{public}")
    assert page.status_code == 200
    assert csrf(page) != ""
    assert account.email in browser.get("/account").text
    # its forms are of the reader's own session, whose token they bring
    answer = browser.post("/sign-out", data={"csrf_token": csrf(page)})
    assert (answer.status_code, token != "") == (303, True)
    assert session_in(cells.b, account.user_id) == 0


def test_a_page_of_another_cell_is_in_the_readers_language(cells: Joined, public: str) -> None:
    account = cells.b.user()
    browser = cells.browser(cells.b, account.user_id)
    form = {"csrf_token": csrf(browser.get("/account")), "language": "ko"}
    assert browser.post("/language", data=form).status_code == 303
    assert '<html lang="ko"' in browser.get(f"/analyses/{public}").text


def test_what_a_cell_that_is_away_may_have_is_not_said_to_be_nowhere(cells: Joined, public: str) -> None:
    reader = cells.b.token()
    assert me(cells.client(), reader).status_code == 200
    with away(cells.a.uow):
        answers = [read(cells.client(), path, reader) for path in (f"/api/v1/analyses/{public}", "/api/v1/nothing")]
    assert [(answer.status_code, answer.headers.get("Retry-After")) for answer in answers] == [(503, "2"), (404, None)]


def test_who_has_read_too_much_is_told_so(cells: Joined, public: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = cells.b.token(), cells.b.token()
    client, buckets = cells.client("203.0.113.30"), cells.a.app.extensions[READS].buckets
    monkeypatch.setattr(buckets, "per_minute", 3)  # of each of them, and of their address, which the other cell counts
    monkeypatch.setattr(buckets, "clock", lambda: 0.0)
    answers = [read(client, f"/api/v1/analyses/{public}", who).status_code for who in (one, other, one, other)]
    assert answers == [200, 200, 200, 429]


def test_the_log_names_the_answer_that_was_sent(cells: Joined, public: str) -> None:
    environ = {"REQUEST_METHOD": "GET"}
    exchange = received(environ)
    answer = cells.client().get(
        f"/api/v1/analyses/{public}", headers=cells.b.token(), environ_overrides={EXCHANGE: exchange}
    )
    assert (answer.status_code, exchange.refusal, exchange.job_id) == (200, None, public)


def test_the_same_representation_is_not_sent_again(cells: Joined, public: str) -> None:
    reader = cells.b.token()
    first = read(cells.client(), f"/api/v1/analyses/{public}", reader)
    assert {"Authorization", "Cookie"} <= set(first.vary)
    again = read(cells.client(), f"/api/v1/analyses/{public}", reader | {"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    assert cells.client().head(f"/api/v1/analyses/{public}", headers=reader).status_code == 200


def read(client: Client, path: str, headers: dict[str, str]) -> TestResponse:
    return client.get(path, headers=headers)


def test_explore_leads_to_the_lists_of_other_cells(cells: Joined) -> None:
    for name, web in (("a", cells.a), ("b", cells.b)):
        job = web.submit(f"explored-{name}", web.token(), commit=uuid4().hex + "1" * 8).json["id"]
        web.completed(job)
    reader = cells.browser(cells.a, (account := cells.a.user()).user_id)
    page = reader.get("/explore?q=explored")
    assert ("acme/explored-a" in page.text, "acme/explored-b" in page.text) == (True, False)
    assert "<code>a</code>" in page.text
    [there] = re.findall(r'<a href="([^"]+)" translate="no">b</a>', page.text)
    other = reader.get(html.unescape(there))
    assert ("acme/explored-a" in other.text, "acme/explored-b" in other.text) == (False, True)
    own = reader.get("/explore?cell=a&q=explored")
    assert (account.email in own.text, "acme/explored-a" in own.text) == (True, True)
    assert "acme/explored-a" in reader.get("/explore?cell=nowhere&q=explored").text
    assert account.email in reader.get("/account").text
