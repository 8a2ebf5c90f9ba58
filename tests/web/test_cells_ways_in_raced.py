"""Ways into cells while accounts move, other browsers do the same, and cells take no changes."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import text
from werkzeug.test import Client

from app.errors import Unauthenticated
from app.services.accounts import github as use_cases
from app.store.accounts import github_links, passkeys
from app.store.operations import audit_log
from tests.databases import Databases
from tests.web import ways_in
from tests.web.authenticators import Authenticator
from tests.web.github_double import Double, github
from tests.web.joined_cells import From, Joined, first, session_in, taking_no_changes
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


def link(browser: Client, double: Double) -> Any:
    return through_github(browser, double, "/account/github", "/account")


def links(cells: Joined, github_id: int) -> int:
    """How many accounts of all cells are linked to an account of GitHub."""
    number = 0
    for uow in (cells.a.uow, cells.b.uow):
        with uow.begin() as tx:
            found = tx.run(text("SELECT count(*) FROM github_links WHERE github_id = :id"), id=github_id)
            number += int(found.scalar_one())
    return number


def at(browser: Client, other: Client) -> None:
    """Let a browser have the address of another one, as after a change of its network."""
    assert isinstance(browser, From)
    assert isinstance(other, From)
    browser._environ = other._environ


@pytest.mark.parametrize("cell", ["a", "b"])
def test_no_session_begins_in_a_cell_that_takes_no_changes(cells: Joined, double: Double, cell: str) -> None:
    account = cells.a.user()
    browser = cells.browser(cells.a, account.user_id)
    key = add_passkey(browser)
    is_(double, 30 + "ab".index(cell))
    assert link(browser, double).status_code == 303
    visitor = cells.visitor(cell)
    answer = key.get(options(visitor, "/sign-in/passkey", "/sign-in"))
    with taking_no_changes(cells.a.uow):
        refused = send(visitor, "/sign-in/passkey", "/sign-in", credential=answer)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "30")
        if cell == "b":
            assert through_github(cells.visitor("b"), double).status_code == 503
        assert session_in(cells.a, account.user_id) == 1


def test_a_passkey_signs_in_to_an_account_that_leaves_meanwhile(cells: Joined) -> None:
    account = cells.a.user()
    key = add_passkey(cells.browser(cells.a, account.user_id))
    browser = cells.visitor("b")
    with first(passkeys, "used", lambda: cells.moved(account.user_id, noted=False)):
        assert enter(browser, key).status_code == 303
    assert is_signed_in(browser, account.email)


def test_github_signs_in_to_an_account_that_leaves_meanwhile(cells: Joined, double: Double) -> None:
    for number, visits in enumerate("ab", 40):
        account = cells.a.user()
        is_(double, number)
        link(cells.browser(cells.a, account.user_id), double)
        browser = cells.visitor(visits)
        with first(github_links, "user_of", lambda: cells.moved(account.user_id, noted=False)):  # noqa: B023
            assert through_github(browser, double).status_code == 303
        assert is_signed_in(browser, account.email)
        assert links(cells, number) == 1
        assert people(cells.a.uow, f"person{number}@example.org") == 0


@pytest.mark.parametrize("noted", [False, True])
def test_an_account_of_github_is_linked_to_an_account_that_leaves_meanwhile(
    cells: Joined, double: Double, noted: bool
) -> None:
    """GitHub has answered by then, and answers once."""
    account = cells.a.user()
    browser = cells.browser(cells.a, account.user_id)
    assert is_signed_in(browser, account.email)
    is_(double, 44 + noted)
    with first(use_cases, "link", lambda: cells.moved(account.user_id, noted=noted)):
        assert link(browser, double).status_code == 303
    assert links(cells, 44 + noted) == 1
    assert through_github(visitor := cells.visitor("a"), double).status_code == 303
    assert is_signed_in(visitor, account.email)


def test_an_account_of_github_that_two_link_at_once_is_linked_to_one(cells: Joined, double: Double) -> None:
    browsers = [cells.browser(web, web.user().user_id) for web in (cells.a, cells.b)]
    is_(double, 50)
    codes = list[int]()
    with first(github_links, "add", lambda: codes.append(link(browsers[1], double).status_code)):
        codes.append(link(browsers[0], double).status_code)
    assert sorted(codes) == [303, 409]
    assert links(cells, 50) == 1


def test_an_account_of_github_that_is_linked_while_it_makes_one_is_linked_to_one(cells: Joined, double: Double) -> None:
    browser = cells.browser(cells.b, cells.b.user().user_id)
    is_(double, 51)
    codes = list[int]()
    with first(github_links, "add", lambda: codes.append(link(browser, double).status_code)):
        codes.append(through_github(cells.visitor("a"), double).status_code)
    assert sorted(codes) == [303, 409]
    assert links(cells, 51) == 1


def test_a_link_that_was_not_made_keeps_nobody_from_it(cells: Joined, double: Double) -> None:
    first_one, second = cells.a.user(), cells.b.user()
    is_(double, 52)

    def fail() -> None:
        raise Unauthenticated

    browser = cells.browser(cells.a, first_one.user_id)
    with first(audit_log, "add", fail):
        link(browser, double)
    assert links(cells, 52) == 0
    assert link(cells.browser(cells.b, second.user_id), double).status_code == 303
    assert links(cells, 52) == 1


def test_a_link_that_is_being_made_is_waited_for_by_nobody(cells: Joined, double: Double) -> None:
    """Another person has noted a link in the directory, and has not committed."""
    slow, other = cells.a.user(), cells.b.user()
    browsers = [cells.browser(web, who.user_id) for web, who in ((cells.a, slow), (cells.b, other))]
    is_(double, 53)
    codes = list[int]()
    with first(audit_log, "add", lambda: codes.append(link(browsers[1], double).status_code)):
        codes.append(link(browsers[0], double).status_code)
    assert codes == [409, 303]
    assert links(cells, 53) == 1


def test_a_browser_may_change_its_address_between_the_steps(cells: Joined, double: Double) -> None:
    account = cells.a.user()
    browser = cells.browser(cells.a, account.user_id)
    key = add_passkey(browser)
    is_(double, 54)
    link(browser, double)
    visitor = cells.visitor("a")
    answer = key.get(options(visitor, "/sign-in/passkey", "/sign-in"))
    at(visitor, cells.visitor("b"))
    assert send(visitor, "/sign-in/passkey", "/sign-in", credential=answer).status_code == 303
    assert is_signed_in(visitor, account.email)
    visitor = cells.visitor("a")
    with first(ways_in, "urlencode", lambda: at(visitor, cells.visitor("b"))):  # on the way back
        assert through_github(visitor, double).status_code == 303
    assert is_signed_in(visitor, account.email)


def test_a_sign_up_may_change_its_address_between_the_steps(cells: Joined) -> None:
    email = "changes@example.org"
    visitor = cells.visitor("a")
    made = Authenticator().create(options(visitor, "/sign-up/passkey", "/sign-up", email=email))
    at(visitor, cells.visitor("b"))
    assert send(visitor, "/sign-up/passkey", "/sign-up", credential=made, name="A key").status_code == 303
    assert is_signed_in(visitor, email)
    assert (people(cells.a.uow, email), people(cells.b.uow, email)) == (1, 0)


def test_an_account_may_move_between_the_steps_of_signing_in_to_another_one(cells: Joined) -> None:
    signed_in, wanted = cells.a.user(), cells.a.user()
    key = add_passkey(cells.browser(cells.a, wanted.user_id))
    browser = cells.browser(cells.a, signed_in.user_id)
    answer = key.get(options(browser, "/sign-in/passkey", "/sign-in"))
    cells.moved(signed_in.user_id, noted=True)
    assert send(browser, "/sign-in/passkey", "/sign-in", credential=answer).status_code == 303
    assert is_signed_in(browser, wanted.email)
    assert session_in(cells.b, signed_in.user_id) == 0


def test_refusals_in_another_cell_do_not_make_it_silent(cells: Joined, monkeypatch: pytest.MonkeyPatch) -> None:
    key = add_passkey(cells.browser(cells.b, cells.b.user().user_id))
    threads = cells.router._places.threads["b"]
    visitor = cells.visitor("a")
    key.key = Authenticator().key  # a wrong signature
    answer = key.get(options(visitor, "/sign-in/passkey", "/sign-in"))
    ticks = iter(range(0, 10_000, 5))
    monkeypatch.setattr(threads, "clock", lambda: float(next(ticks)))
    monkeypatch.setattr(threads, "_answered", 0.0)
    assert send(visitor, "/sign-in/passkey", "/sign-in", credential=answer).status_code == 422
    assert not threads.is_silent


def test_github_says_that_an_account_of_another_cell_has_its_address(cells: Joined, double: Double) -> None:
    account = cells.b.user()
    assert is_signed_in(cells.browser(cells.b, account.user_id), account.email)  # so the directory knows it
    is_(double, 55)
    double.emails = [{"email": account.email, "primary": True, "verified": True}]
    answer = through_github(cells.visitor("a"), double)
    assert answer.status_code == 409
    assert use_cases.TAKEN in html.unescape(answer.text)
