"""Another password, by its owner or by the operator, and what it ends."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from app.errors import InvalidInput, NotFound, TooManyRequests, Unauthenticated
from app.services.accounts import accounts, github, passwords, sessions, tokens
from app.services.accounts.forget import forget
from app.store.accounts import passkeys
from tests.conftest import NOW, World
from tests.services.accounts.test_passwords import EMAIL, PASSWORD, attempts, sign_in, sign_up, stored

NEW = "another long password"


def change(world: World, session: str, new: str = NEW, current: str = PASSWORD, *, shuts_out: bool = False) -> str:
    """The new secret of the session."""
    account = sessions.by_session(world.uow, session, now=NOW)
    assert account
    return passwords.change(world.uow, account, new, current=current, session=session, shuts_out=shuts_out, now=NOW)


def is_open(world: World, session: str | None) -> bool:
    return session is not None and sessions.by_session(world.uow, session, now=NOW) is not None


def user_of(world: World, session: str) -> UUID:
    account = sessions.by_session(world.uow, session, now=NOW)
    assert account
    return account.user_id


def test_a_change_ends_the_other_sessions_and_links_and_keeps_tokens(world: World) -> None:
    other, own = sign_up(world), sign_in(world)
    user, stranger = user_of(world, own), sign_up(world, "eve@example.org")
    link, token = (
        sessions.sign_in_link(world.uow, user, actor="cli:test", now=NOW),
        tokens.add_token(world.uow, user, now=NOW),
    )
    renewed = change(world, own)
    assert (is_open(world, renewed), is_open(world, other), is_open(world, stranger)) == (True, False, True)
    assert not is_open(world, own)  # a copy of its cookie is worth nothing
    assert sessions.sign_in(world.uow, link, now=NOW) is None
    assert tokens.by_token(world.uow, token.secret, now=NOW)
    with pytest.raises(Unauthenticated):
        sign_in(world)
    assert sign_in(world, password=NEW)
    (logged,) = world.rows("SELECT actor, subject FROM audit_log WHERE action = 'user.password'")
    assert logged == {"actor": str(user), "subject": str(user)}


def test_a_change_ends_tokens_passkeys_and_github_too_if_asked_to(world: World) -> None:
    own = sign_up(world)
    user = user_of(world, own)
    account = sessions.by_session(world.uow, own, now=NOW)
    assert account
    token = tokens.add_token(world.uow, user, now=NOW)
    github.link(world.uow, account, github.Identity(7, "ann", None), now=NOW)
    with world.uow.begin() as tx:
        passkeys.add(tx, user, credential_id=b"x", public_key=b"", sign_count=0, name="phone", now=NOW)
    assert is_open(world, change(world, own, shuts_out=True))
    assert tokens.by_token(world.uow, token.secret, now=NOW) is None
    assert world.rows("SELECT 1 FROM passkeys UNION ALL SELECT 1 FROM github_links") == []
    (logged,) = world.rows("SELECT facts FROM audit_log WHERE action = 'user.password'")
    assert logged["facts"] == {"shut_out": True}


@pytest.mark.parametrize(
    ("new", "current"), [(NEW, "a wrong password"), (NEW, ""), ("short", PASSWORD), (EMAIL, PASSWORD)]
)
def test_a_change_needs_the_current_password_and_a_good_one(world: World, new: str, current: str) -> None:
    session, before = sign_up(world), stored(world)
    with pytest.raises(InvalidInput):
        change(world, session, new, current)
    assert stored(world) == before


def test_a_stolen_session_guesses_the_current_password_no_faster_than_a_stranger(world: World) -> None:
    session = sign_up(world)
    refused = []
    for _ in range(passwords.PER_ACCOUNT * 3):
        with pytest.raises((InvalidInput, TooManyRequests)) as caught:
            change(world, session, current="a wrong password")
        refused.append(caught.type)
    assert TooManyRequests in refused


def test_a_person_whom_an_operator_added_sets_the_first_password_behind_a_link(world: World) -> None:
    user = world.user(email=EMAIL)
    assert not passwords.has_password(world.uow, user)
    session = sessions.sign_in(world.uow, sessions.sign_in_link(world.uow, user, actor="cli:test", now=NOW), now=NOW)
    assert session
    change(world, session, current="")
    assert passwords.has_password(world.uow, user)
    assert sign_in(world, password=NEW)


def test_sessions_are_listed_with_their_use_and_ended_one_by_one_by_their_user_only(world: World) -> None:
    other, own = sign_up(world), sign_in(world)
    user, stranger = user_of(world, own), user_of(world, sign_up(world, "eve@example.org"))
    later = NOW + timedelta(minutes=5)
    assert sessions.by_session(world.uow, own, now=later)
    assert sessions.by_session(world.uow, own, now=later + timedelta(seconds=59))  # not written again
    listed = {one.is_own: one for one in sessions.sessions_of(world.uow, user, own, now=later)}
    assert (listed[True].last_used_at, listed[False].last_used_at) == (later, None)
    with pytest.raises(NotFound):
        sessions.end(world.uow, stranger, listed[False].id)
    assert is_open(world, other)
    sessions.end(world.uow, user, listed[False].id)
    assert (is_open(world, other), is_open(world, own)) == (False, True)
    assert sessions.sessions_of(world.uow, user, own, now=NOW + timedelta(days=15)) == []


def test_an_operator_sets_a_password_from_standard_input(world: World, fairlane: Any) -> None:
    session = sign_up(world)
    done = fairlane("user", "password", EMAIL.upper(), input=f"{NEW}\n")
    assert done.exit_code == 0, done.output
    assert NEW not in done.output
    assert not is_open(world, session)
    assert sign_in(world, password=NEW)
    refused = fairlane("user", "password", EMAIL, input="short\n")
    assert (refused.exit_code, "10 to 200 characters" in refused.output) == (1, True)
    assert fairlane("user", "password", "nobody@example.org", input=f"{NEW}\n").exit_code == 1
    assert sign_in(world, password=NEW)


def test_nothing_of_a_deleted_account_signs_in(world: World) -> None:
    user = user_of(world, sign_up(world))
    forget(world.uow, user, actor=str(user), now=NOW)
    assert stored(world) == []
    with pytest.raises(Unauthenticated):
        sign_in(world)
    with pytest.raises(NotFound):
        accounts.find_person(world.uow, EMAIL)


def test_strangers_who_guess_keep_no_signed_in_owner_from_changing_the_password(world: World) -> None:
    own = sign_up(world)
    assert TooManyRequests in attempts(world, passwords.PER_ACCOUNT + 3, EMAIL, "198.51.100.{}")
    renewed = change(world, own)
    assert passwords.confirm(world.uow, user_of(world, renewed), NEW)
