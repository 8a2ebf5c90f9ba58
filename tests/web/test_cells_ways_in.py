"""Passkeys and accounts of GitHub, in a browser that no cell knows."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from app.services.accounts import github as use_cases
from app.services.accounts import passkeys, sign_up
from app.services.cells.other_cells import NOT_LOOKED_UP
from app.web.accounts.github import GitHub
from tests.databases import Databases
from tests.web.authenticators import Authenticator
from tests.web.github_double import Double, github
from tests.web.joined_cells import Joined, away, session_in
from tests.web.ways_in import (
    add_passkey,
    cells_with_github,
    enter,
    is_,
    is_signed_in,
    options,
    people,
    send,
    through_github,
)


@pytest.fixture(scope="module")
def double() -> Iterator[Double]:
    with github() as found:
        yield found


@pytest.fixture(scope="module")
def cells(databases: Databases, double: Double) -> Iterator[Joined]:
    with cells_with_github(databases, double) as made:
        yield made


@pytest.mark.parametrize("cell", ["a", "b"])
@pytest.mark.parametrize("visits", ["a", "b"])
def test_a_passkey_signs_in_from_a_new_browser(cells: Joined, cell: str, visits: str) -> None:
    web = getattr(cells, cell)
    account = web.user()
    key = add_passkey(cells.browser(web, account.user_id))
    browser = cells.visitor(visits)
    assert enter(browser, key).status_code == 303
    assert is_signed_in(browser, account.email)
    assert session_in(web, account.user_id) == 2


def test_the_passkey_of_an_account_that_has_moved_signs_in(cells: Joined) -> None:
    account = cells.a.user()
    key = add_passkey(cells.browser(cells.a, account.user_id))
    cells.moved(account.user_id, noted=False)
    for visits in "ab":
        assert enter(browser := cells.visitor(visits), key).status_code == 303
        assert is_signed_in(browser, account.email)


@pytest.mark.parametrize("handle", [b"", bytes(range(16)), b"short"], ids=["none", "unknown", "short"])
def test_a_passkey_of_nobody_is_refused(cells: Joined, handle: bytes) -> None:
    answer = enter(cells.visitor("a"), Authenticator(handle=handle))
    assert answer.status_code == 401
    assert passkeys.UNKNOWN in html.unescape(answer.text)


def test_a_challenge_works_once_in_all_cells(cells: Joined) -> None:
    account = cells.b.user()
    key = add_passkey(cells.browser(cells.b, account.user_id))
    browser = cells.visitor("a")
    answer = key.get(options(browser, "/sign-in/passkey", "/sign-in"))
    cookie = browser.get_cookie("fairlane")
    assert cookie
    assert send(browser, "/sign-in/passkey", "/sign-in", credential=answer).status_code == 303
    again = cells.visitor("a")
    again.set_cookie("fairlane", cookie.value)
    refused = send(again, "/sign-in/passkey", "/sign-in", credential=answer)
    assert refused.status_code == 422
    assert passkeys.EXPIRED in html.unescape(refused.text)


def test_somebody_who_claims_the_credential_of_another_cell_keeps_nobody_out(cells: Joined) -> None:
    account, other = cells.b.user(), cells.a.user()
    key = add_passkey(cells.browser(cells.b, account.user_id))
    claimed = add_passkey(cells.browser(cells.a, other.user_id), Authenticator(id=key.id))
    assert enter(browser := cells.visitor("a"), key).status_code == 303
    assert is_signed_in(browser, account.email)
    claimed.handle = key.handle
    assert enter(cells.visitor("a"), claimed).status_code == 422


def test_only_accounts_of_a_cell_that_is_away_wait(cells: Joined) -> None:
    here, there = cells.a.user(), cells.b.user()
    own, others = (add_passkey(cells.browser(web, who.user_id)) for web, who in ((cells.a, here), (cells.b, there)))
    with away(cells.b.uow):
        answer = enter(cells.visitor("a"), others)
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")
        assert NOT_LOOKED_UP in html.unescape(answer.text)
        assert not cells.router._places.threads["a"].is_silent
    with away(cells.directory):
        assert enter(cells.visitor("a"), own).status_code == 303
        assert enter(cells.visitor("a"), others).status_code == 503


def test_signing_in_elsewhere_ends_the_session_that_the_browser_had(cells: Joined) -> None:
    first, second = cells.a.user(), cells.b.user()
    key = add_passkey(cells.browser(cells.b, second.user_id))
    browser = cells.browser(cells.a, first.user_id)
    assert enter(browser, key).status_code == 303
    assert is_signed_in(browser, second.email)
    assert session_in(cells.a, first.user_id) == 0


@pytest.mark.parametrize("signed_in", [False, True])
def test_a_sign_up_with_a_passkey_stays_in_one_cell(cells: Joined, *, signed_in: bool) -> None:
    email = f"{uuid4().hex}@example.org"
    browser = cells.browser(cells.b, cells.b.user().user_id) if signed_in else cells.visitor("a")
    made = Authenticator().create(options(browser, "/sign-up/passkey", "/sign-up", email=email))
    answer = send(browser, "/sign-up/passkey", "/sign-up", credential=made, name="A key")
    assert answer.status_code == 303, answer.text
    assert is_signed_in(browser, email)


def test_a_sign_up_with_the_address_of_an_account_of_another_cell_says_so(cells: Joined) -> None:
    account = cells.b.user()
    assert is_signed_in(cells.browser(cells.b, account.user_id), account.email)  # so the directory knows it
    browser = cells.visitor("a")
    made = Authenticator().create(options(browser, "/sign-up/passkey", "/sign-up", email=account.email or ""))
    answer = send(browser, "/sign-up/passkey", "/sign-up", credential=made, name="A key")
    assert answer.status_code == 409
    assert sign_up.TAKEN in html.unescape(answer.text)


@pytest.mark.parametrize("cell", ["a", "b"])
@pytest.mark.parametrize("visits", ["a", "b"])
def test_github_signs_in_from_a_new_browser(cells: Joined, double: Double, cell: str, visits: str) -> None:
    web = getattr(cells, cell)
    account = web.user()
    is_(double, 20 + 2 * "ab".index(cell) + "ab".index(visits))
    through_github(cells.browser(web, account.user_id), double, "/account/github", "/account")
    for _ in range(2):  # the directory has learned it
        browser = cells.visitor(visits)
        assert through_github(browser, double).status_code == 303
        assert is_signed_in(browser, account.email)
    assert session_in(web, account.user_id) == 3


def test_a_link_that_has_moved_to_an_account_of_another_cell_signs_in_there(cells: Joined, double: Double) -> None:
    first, second = cells.b.user(), cells.a.user()
    is_(double, 11)
    browser = cells.browser(cells.b, first.user_id)
    add_passkey(browser)  # another way in, without which no link is removed
    through_github(browser, double, "/account/github", "/account")
    assert through_github(cells.visitor("a"), double).status_code == 303
    assert send(browser, "/account/github/unlink", "/account").status_code == 303
    linked = through_github(cells.browser(cells.a, second.user_id), double, "/account/github", "/account")
    assert linked.status_code == 303
    for visits in "ab":
        assert through_github(visitor := cells.visitor(visits), double).status_code == 303
        assert is_signed_in(visitor, second.email)


def test_an_account_of_github_is_linked_in_one_cell(cells: Joined, double: Double) -> None:
    first, second = cells.b.user(), cells.a.user()
    is_(double, 12)
    through_github(cells.browser(cells.b, first.user_id), double, "/account/github", "/account")
    refused = through_github(cells.browser(cells.a, second.user_id), double, "/account/github", "/account")
    assert refused.status_code == 409
    assert use_cases.LINKED in html.unescape(refused.text)


def test_the_account_that_github_makes_is_the_same_from_everywhere(cells: Joined, double: Double) -> None:
    is_(double, 13)
    for visits in "ab":
        assert through_github(browser := cells.visitor(visits), double).status_code == 303
        assert is_signed_in(browser, "person13@example.org")
    made = [one.uow for one in (cells.a, cells.b) if people(one.uow, "person13@example.org")]
    assert made == [cells.a.uow]


def test_github_makes_no_account_while_a_cell_that_may_have_it_is_away(cells: Joined, double: Double) -> None:
    is_(double, 14)
    with away(cells.b.uow):
        answer = through_github(cells.visitor("a"), double)
    assert answer.status_code == 503
    assert NOT_LOOKED_UP in html.unescape(answer.text)
    assert not people(cells.a.uow, "person14@example.org")


def test_who_waits_for_github_does_not_wait_for_a_cell(
    cells: Joined, double: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_(double, 77)
    real, held = GitHub.identity, list[int]()

    def identity(*given: str) -> Any:
        held.extend(threads._held for threads in cells.router._places.threads.values())
        return real(*given)

    monkeypatch.setattr(GitHub, "identity", identity)
    assert through_github(cells.visitor("b"), double).status_code == 303
    assert held == [0, 0]
    assert [threads._held for threads in cells.router._places.threads.values()] == [0, 0]
