"""Tokens, sessions and sign-in links: hashed, ending, and some of them good for once."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Barrier
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from app.store.accounts import credentials, open_sessions, users
from app.store.core.unit_of_work import Tx
from tests.conftest import NOW, World

HOUR = timedelta(hours=1)
ENDED = HOUR - timedelta(microseconds=1)


@pytest.fixture
def tx(world: World) -> Iterator[Tx]:
    with world.uow.begin() as opened:
        yield opened


@pytest.fixture
def user(world: World) -> UUID:
    return world.user()


def token(tx: Tx, user_id: UUID, secret: str, *, expires_at: datetime | None = None) -> UUID:
    token_id = uuid4()
    credentials.add_token(
        tx,
        token_id=token_id,
        user_id=user_id,
        secret=secret,
        prefix=secret[:5],
        name="laptop",
        scopes=["read", "write"],
        now=NOW,
        expires_at=expires_at,
    )
    return token_id


def test_a_token_names_its_user_and_scopes_and_its_secret_is_nowhere(user: UUID, tx: Tx) -> None:
    token(tx, user, "fl_secret-of-somebody")
    used = credentials.use_token(tx, "fl_secret-of-somebody", now=NOW)
    assert used is not None
    assert (used.account.user_id, used.scopes) == (user, {"read", "write"})
    kept = tx.run(text("SELECT api_tokens::text FROM api_tokens")).scalar_one()
    assert "secret-of" not in kept


@pytest.mark.parametrize("secret", ["", "fl_", "fl_secre", "fl_secret ", "FL_SECRET", "\x00"])
def test_any_other_secret_is_nobodys(user: UUID, tx: Tx, secret: str) -> None:
    token(tx, user, "fl_secret")
    assert credentials.use_token(tx, secret, now=NOW) is None


def test_an_account_is_the_same_whoever_reads_it(world: World, user: UUID) -> None:
    known = "UPDATE users SET is_read_only_operator = true, run_seconds = 3, spec_run_seconds = 5 RETURNING email"
    [row] = world.rows(known)
    with world.uow.begin() as tx:
        token(tx, user, "fl_secret")
        used = credentials.use_token(tx, "fl_secret", now=NOW)
        found = [users.find(tx, user), users.find_by_email(tx, row["email"]), users.find_each(tx, [user])[user]]
    assert used is not None
    assert found == [used.account] * 3
    assert used.account.is_read_only_operator
    assert {service.value: runs.mean for service, runs in used.account.runs.items()} == {"analysis": 3, "specview": 5}


def test_a_token_ends_at_its_expiry_and_one_without_never(user: UUID, tx: Tx) -> None:
    token(tx, user, "fl_short", expires_at=NOW + HOUR)
    token(tx, user, "fl_ever")
    assert credentials.use_token(tx, "fl_short", now=NOW + ENDED) is not None
    assert credentials.use_token(tx, "fl_short", now=NOW + HOUR) is None
    assert credentials.use_token(tx, "fl_ever", now=NOW + 100_000 * HOUR) is not None


def test_the_last_use_is_written_at_most_once_a_minute(user: UUID, tx: Tx) -> None:
    token(tx, user, "fl_secret")
    seen = []
    for seconds in (0, 59, 61, 100):
        credentials.use_token(tx, "fl_secret", now=NOW + timedelta(seconds=seconds))
        seen.append(credentials.tokens_of(tx, user)[0].last_used_at - NOW)
    assert [at.total_seconds() for at in seen] == [0, 0, 61, 61]


def test_a_revoked_token_is_refused_gone_from_the_list_and_revoked_once(user: UUID, tx: Tx) -> None:
    token_id, kept = token(tx, user, "fl_secret"), token(tx, user, "fl_other")
    assert credentials.revoke_token(tx, user, token_id, now=NOW)
    assert not credentials.revoke_token(tx, user, token_id, now=NOW)
    assert credentials.use_token(tx, "fl_secret", now=NOW) is None
    assert [row.id for row in credentials.tokens_of(tx, user)] == [kept]


def test_nobody_revokes_or_lists_the_tokens_of_another(world: World, user: UUID) -> None:
    stranger = world.user()
    with world.uow.begin() as tx:
        token_id = token(tx, user, "fl_secret")
        assert not credentials.revoke_token(tx, stranger, token_id, now=NOW)
        assert credentials.tokens_of(tx, stranger) == []
        assert credentials.use_token(tx, "fl_secret", now=NOW) is not None


def test_a_session_lives_until_its_end_or_until_it_is_closed(user: UUID, tx: Tx) -> None:
    for secret in ("one", "two"):
        open_sessions.add_session(tx, user, secret, by=open_sessions.Way.LINK, now=NOW, expires_at=NOW + HOUR)
    assert open_sessions.session_user(tx, "one", used_since=NOW - HOUR, now=NOW + ENDED) == user
    assert open_sessions.session_user(tx, "one", used_since=NOW - HOUR, now=NOW + HOUR) is None
    open_sessions.end_session(tx, "one")
    open_sessions.end_session(tx, "one")
    assert open_sessions.session_user(tx, "one", used_since=NOW - HOUR, now=NOW) is None
    assert open_sessions.session_user(tx, "two", used_since=NOW - HOUR, now=NOW) == user
    assert open_sessions.session_user(tx, "two", used_since=NOW, now=NOW) is None  # it was not used since


def test_a_renewed_session_has_another_secret_and_a_new_proof(user: UUID, tx: Tx) -> None:
    open_sessions.add_session(tx, user, "one", by=open_sessions.Way.LINK, now=NOW, expires_at=NOW + HOUR)
    assert open_sessions.proof_of(tx, "one") == open_sessions.Proof(NOW, "link")
    later = NOW + HOUR / 2
    assert not open_sessions.renew_session(
        tx, uuid4(), "one", "two", by=open_sessions.Way.PASSWORD, now=later
    )  # of another user
    assert open_sessions.renew_session(tx, user, "one", "two", by=open_sessions.Way.PASSWORD, now=later)
    assert open_sessions.proof_of(tx, "one") is None
    assert open_sessions.proof_of(tx, "two") == open_sessions.Proof(later, "password")
    assert not open_sessions.renew_session(tx, user, "one", "three", by=open_sessions.Way.PASSWORD, now=later)


def test_a_sign_in_link_works_once_and_not_after_its_end(user: UUID, tx: Tx) -> None:
    open_sessions.add_link(tx, user, "link", expires_at=NOW + HOUR)
    open_sessions.add_link(tx, user, "late", expires_at=NOW + HOUR)
    assert open_sessions.use_link(tx, "late", now=NOW + HOUR) is None
    assert open_sessions.use_link(tx, "link", now=NOW + ENDED) == user
    assert open_sessions.use_link(tx, "link", now=NOW) is None
    assert open_sessions.use_link(tx, "unknown", now=NOW) is None


def test_a_link_opened_by_many_at_once_signs_in_one(world: World, user: UUID) -> None:
    with world.uow.begin() as tx:
        open_sessions.add_link(tx, user, "link", expires_at=NOW + HOUR)
    barrier = Barrier(8)

    def spend(_: int) -> UUID | None:
        barrier.wait()
        with world.uow.begin() as tx:
            return open_sessions.use_link(tx, "link", now=NOW)

    with ThreadPoolExecutor(8) as threads:
        assert sorted(map(str, threads.map(spend, range(8)))) == sorted([str(user), *["None"] * 7])


def test_what_has_ended_is_forgotten_and_what_lives_stays(user: UUID, tx: Tx) -> None:
    open_sessions.add_session(tx, user, "old", by=open_sessions.Way.LINK, now=NOW, expires_at=NOW - HOUR)
    open_sessions.add_session(tx, user, "new", by=open_sessions.Way.LINK, now=NOW, expires_at=NOW + HOUR)
    open_sessions.add_link(tx, user, "old", expires_at=NOW - HOUR)
    open_sessions.add_link(tx, user, "new", expires_at=NOW + HOUR)
    assert open_sessions.prune(tx, now=NOW) == 2
    assert open_sessions.session_user(tx, "new", used_since=NOW - HOUR, now=NOW) == user
    assert open_sessions.use_link(tx, "new", now=NOW) == user
