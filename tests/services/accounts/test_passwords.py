"""Passwords: what is stored, what is refused, and what an attacker learns."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from argon2 import PasswordHasher
from argon2.low_level import Type

from app.concurrency import Lane
from app.domain.plans import Tier
from app.errors import Busy, Conflict, InvalidInput, TooManyRequests, Unauthenticated
from app.services.accounts import accounts as people
from app.services.accounts import password_hashes, password_resets, passwords, sessions
from app.services.accounts import sign_up as new_accounts
from app.services.accounts.password_hashes import Turn
from tests.conftest import NOW, World
from tests.rate_buckets import refill_nothing

EMAIL, PASSWORD = "ann@example.org", "correct horse battery"
FROM = {"client": "192.0.2.1", "secret": "a secret of this test", "now": NOW}


def sign_up(world: World, email: str = EMAIL, password: str = PASSWORD, **more: Any) -> str:
    return passwords.sign_up(world.uow, email, password, **{"tier": Tier.FREE, "per_day": 1000} | FROM | more)


def sign_in(world: World, email: str = EMAIL, password: str = PASSWORD, **more: Any) -> str:
    return passwords.sign_in(world.uow, email, password, **FROM | more)


def stored(world: World) -> list[str]:
    return [str(row["hash"]) for row in world.rows("SELECT hash FROM passwords")]


@pytest.mark.real_hashes
def test_signing_up_makes_a_user_without_rights_in_the_given_tier_and_stores_argon2id(world: World) -> None:
    account = sessions.by_session(world.uow, sign_up(world, tier=Tier.PRO), now=NOW)
    assert account is not None
    assert (account.email, account.tier) == (EMAIL, Tier.PRO)
    assert not (account.is_operator or account.is_read_only_operator or account.is_anonymous)
    (hashed,) = stored(world)
    assert hashed.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    assert PASSWORD not in hashed
    assert world.rows("SELECT actor, action FROM audit_log") == [{"actor": "sign-up", "action": "user.add"}]


def test_the_password_signs_in_however_the_address_and_its_letters_are_typed(world: World) -> None:
    first = sign_up(world, password="r\u00e9sum\u00e9 of mine, s'il")
    second = sign_in(world, email=EMAIL.upper(), password="re\u0301sume\u0301 of mine, s'il")
    assert first != second
    assert sessions.by_session(world.uow, second, now=NOW)


def test_an_unknown_address_a_wrong_password_and_an_account_without_one_are_answered_alike(world: World) -> None:
    sign_up(world)
    world.user(email="added@example.org")
    guesses = [(EMAIL, "wrong password"), ("nobody@example.org", PASSWORD), ("added@example.org", ""), ("x\0y", "")]
    told = set()
    for email, password in guesses:
        with pytest.raises(Unauthenticated) as refused:
            sign_in(world, email, password)
        told.add(refused.value.detail)
    assert told == {passwords.WRONG}


def test_as_much_is_hashed_for_nobody_as_for_somebody(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    sign_up(world)
    (hashed,) = stored(world)
    world.user(email="added@example.org")
    compared: list[str] = []

    class Watched:
        def verify(self, against: str, password: str) -> bool:
            compared.append(against)
            return PasswordHasher().verify(against, password)

    monkeypatch.setattr(password_hashes, "_hasher", Watched())
    for email in (EMAIL, "nobody@example.org", "added@example.org", "no address", "x" * 1000):
        with pytest.raises(Unauthenticated):
            sign_in(world, email, "wrong password")
    assert len(compared) == 5
    parameters = {against.rsplit("$", 2)[0] for against in compared}
    assert parameters == {hashed.rsplit("$", 2)[0]}
    assert {tuple(map(len, against.split("$"))) for against in compared} == {tuple(map(len, hashed.split("$")))}


@pytest.mark.parametrize("taken", [EMAIL, EMAIL.upper()])
@pytest.mark.parametrize("has_password", [False, True])
def test_an_account_that_exists_cannot_be_taken_over_by_signing_up(
    world: World, taken: str, has_password: bool
) -> None:
    if has_password:
        sign_up(world)
    else:
        world.user(email=EMAIL)
    before = stored(world)
    with pytest.raises(Conflict) as refused:
        sign_up(world, email=taken, password="the password of somebody else")
    assert refused.value.detail == new_accounts.TAKEN  # the same with and without a password
    assert stored(world) == before
    assert len(world.rows("SELECT 1 AS one FROM sessions")) == has_password
    with pytest.raises(Unauthenticated):
        sign_in(world, password="the password of somebody else")


@pytest.mark.parametrize(
    "password", ["", "x" * 9, "x" * 201, "x" * 100_000, EMAIL, EMAIL.upper(), "\ufb03" * 67, "\udcff" * 10]
)
def test_a_short_long_or_obvious_password_is_refused(world: World, password: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        sign_up(world, password=password)
    assert refused.value.extensions["errors"][0]["pointer"] == "/password"
    assert stored(world) == []


@pytest.mark.parametrize("password", ["x" * 10, "x" * 200, "\N{PILE OF POO}" * 10])
def test_a_password_of_10_to_200_characters_is_taken(world: World, password: str) -> None:
    sign_up(world, password=password)
    assert sign_in(world, password=password)


@pytest.mark.parametrize(
    "email",
    ["", "ann", "@", "a b@c", "ann@example.org\r\nSet-Cookie: x=y", "ann\0@example.org", "ann\u202e@example.org",
     "ann@example.org\u200b", f"ann@{'x' * 300}", f"{'x' * 65}@example.org", "a@b@c"],
)  # fmt: skip
def test_an_address_that_is_none_is_refused(world: World, email: str) -> None:
    with pytest.raises(InvalidInput):
        sign_up(world, email=email)
    with pytest.raises(Unauthenticated):
        sign_in(world, email=email)


@pytest.mark.parametrize(
    "email",
    ["`}@[\\+=", ".<*<,`@`)>`-", "x<ceo@corp.test>", "root,x@evil.test", "(c)a@b", "=?utf-8?q?a?=@b", '"a b"@c', "ä@example.org"],
)  # fmt: skip
def test_an_address_that_programs_read_differently_makes_no_account(world: World, email: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        sign_up(world, email=email)
    assert "without quotes, comments and lists" in refused.value.extensions["errors"][0]["detail"]
    assert world.rows("SELECT 1 FROM users") == world.rows("SELECT 1 FROM sign_up_days") == []


def test_an_older_account_with_such_an_address_still_signs_in(world: World) -> None:
    sign_up(world)
    world.rows("UPDATE users SET email = 'x<ceo@corp.test>' RETURNING id")
    assert sessions.by_session(world.uow, sign_in(world, email="x<ceo@corp.test>"), now=NOW)


def test_one_network_uses_a_tenth_of_a_days_sign_ups(world: World) -> None:
    def try_from(client: str, *, now: datetime = NOW) -> bool:
        world.rows("DELETE FROM rate_buckets RETURNING 1")  # as if a minute had passed
        try:
            sign_up(world, email=f"{uuid4().hex}@example.org", client=client, per_day=20, now=now)
        except TooManyRequests as refused:
            return "from your network" not in refused.detail or (refused.retry_after or 0) > 86_401
        return True

    assert [try_from("192.0.2.1") for _ in range(4)] == [True, True, False, False]
    assert try_from("192.0.2.2")
    assert try_from("::ffff:192.0.2.3")
    assert [try_from(f"2001:db8:7:{part}::1") for part in range(3)] == [True, True, False]
    assert try_from("2001:db8:8::1")
    assert world.value("SELECT max(accounts) FROM sign_up_days") == 7  # what was refused does not count
    assert try_from("192.0.2.1", now=NOW + timedelta(days=1))


def test_a_small_days_sign_ups_leave_one_for_each_network(world: World) -> None:
    sign_up(world, per_day=2)
    with pytest.raises(TooManyRequests):
        sign_up(world, email="bob@example.org", per_day=2)
    sign_up(world, email="eve@example.org", per_day=2, client="192.0.2.2")


@pytest.mark.parametrize("email", ["'; DROP TABLE passwords; --@x", "' OR 1=1 --@x", "%@%", "_nn@example.org"])
def test_an_address_is_never_a_statement_or_a_pattern(world: World, email: str) -> None:
    sign_up(world)
    with pytest.raises(Unauthenticated):
        sign_in(world, email=email.replace(" ", ""))
    assert len(stored(world)) == 1


@pytest.mark.real_hashes
def test_a_hash_of_other_parameters_is_replaced_when_its_password_is_entered(world: World) -> None:
    sign_up(world)
    old = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1, type=Type.ID).hash(PASSWORD)
    world.rows("UPDATE passwords SET hash = :hash RETURNING 1", hash=old)
    with pytest.raises(Unauthenticated):
        sign_in(world, password="wrong password")
    assert stored(world) == [old]
    sign_in(world)
    (newer,) = stored(world)
    assert newer.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    sign_in(world)
    assert stored(world) == [newer]


def attempts(world: World, count: int, email: str, client: str) -> list[type[Exception]]:
    """The answers to wrong passwords.  email, client: with {} for the number of the attempt."""
    answers: list[type[Exception]] = []
    for number in range(count):
        refill_nothing(world.uow)
        with pytest.raises((TooManyRequests, Unauthenticated)) as refused:
            sign_in(world, email.format(number), "wrong password", client=client.format(number))
        answers.append(refused.type)
    return answers


@pytest.mark.parametrize("email", [EMAIL, EMAIL.upper(), "nobody@example.org"])
def test_many_addresses_together_guess_no_more_often_than_one(world: World, email: str) -> None:
    sign_up(world)
    allowed = passwords.PER_ACCOUNT
    answers = attempts(world, allowed + 3, email, "192.0.2.{}")
    assert answers[:allowed] == [Unauthenticated] * allowed
    assert TooManyRequests in answers[allowed:]
    keys = " ".join(str(row["key"]) for row in world.rows("SELECT key FROM rate_buckets"))
    assert "example" not in keys
    assert "192.0.2" not in keys


@pytest.mark.parametrize("client", ["192.0.2.1", "::ffff:192.0.2.1", "2001:db8::{}"])
def test_one_client_guesses_at_many_accounts_only_so_often(world: World, client: str) -> None:
    answers = attempts(world, passwords.PER_ADDRESS + 3, "user{}@example.org", client)
    assert answers[: passwords.PER_ADDRESS] == [Unauthenticated] * passwords.PER_ADDRESS
    assert TooManyRequests in answers[passwords.PER_ADDRESS :]


def test_signing_up_is_throttled_by_address(world: World) -> None:
    for number in range(new_accounts.PER_ADDRESS):
        refill_nothing(world.uow)
        sign_up(world, email=f"user{number}@example.org")
    refill_nothing(world.uow)
    with pytest.raises(TooManyRequests):
        sign_up(world, email="last@example.org")
    assert sign_up(world, email="last@example.org", client="192.0.2.2")


def test_a_flood_is_told_to_come_back_before_it_takes_all_memory(world: World, lane: Lane) -> None:
    with lane.place("somebody"), pytest.raises(Busy) as refused:
        sign_in(world)
    assert refused.value.retry_after
    with pytest.raises(Unauthenticated):
        sign_in(world)


def test_a_refusal_for_lack_of_a_place_is_no_attempt_at_the_account(world: World, lane: Lane) -> None:
    sign_up(world)
    with lane.place("somebody"):
        for _ in range(passwords.PER_ACCOUNT * 2):
            with pytest.raises(Busy):
                sign_in(world)
    assert sign_in(world)


def test_an_ipv6_48_hashes_once_at_a_time_because_one_person_has_many_64(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    lane = Lane("sign-ins", 2, 1)
    monkeypatch.setattr(password_hashes, "_lane", lane)
    secret = str(FROM["secret"])
    with lane.place(str(people.network_id("2001:db8:1:1::1", secret))):
        with pytest.raises(TooManyRequests):
            sign_in(world, client="2001:db8:1:2::1")
        with pytest.raises(TooManyRequests):
            sign_up(world, client="2001:db8:1:3::1")
        assert sign_up(world, client="2001:db8:2:1::1")
        assert sign_in(world, client="192.0.2.1")


def test_the_lane_lets_two_hash_one_of_a_client_and_few_wait_for_less_than_two_seconds() -> None:
    lane = password_hashes._lane
    assert (lane.places, lane.client) == (2, 1)
    assert lane.waiting <= 6
    assert lane.patience < 2
    own = password_hashes._own_lane
    assert (own.places, own.client, own.waiting) == (1, 1, 2)
    assert own.patience < 2


def test_strangers_who_sign_in_take_no_turn_of_who_is_signed_in(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    own = sign_up(world)
    account = people.find_person(world.uow, EMAIL)
    strangers = Lane("sign-ins", 1, 1)
    monkeypatch.setattr(password_hashes, "_lane", strangers)
    with strangers.place("a stranger"):
        with pytest.raises(Busy):
            sign_in(world)
        assert passwords.confirm(world.uow, account.user_id, PASSWORD)
        assert passwords.change(world.uow, account, "another password", current=PASSWORD, session=own, now=NOW)
        link = password_resets.hand_out(world.uow, account, actor="cli:test", now=NOW)
        assert password_resets.reset(world.uow, link, PASSWORD, now=NOW)


def test_who_is_signed_in_keeps_no_stranger_from_signing_in(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    sign_up(world)
    own = Lane("sign-ins", 1, 1)
    monkeypatch.setattr(password_hashes, "_own_lane", own)
    with own.place("an owner"):
        assert sign_in(world)


def test_a_password_that_was_changed_while_it_was_compared_opens_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_up(world)
    compare = Turn.matches

    def and_change(password: str, hashed: str | None) -> bool:
        world.rows("UPDATE passwords SET hash = :hash RETURNING 1", hash=Turn.hashed("another password"))
        return compare(password, hashed)

    monkeypatch.setattr(Turn, "matches", staticmethod(and_change))
    with pytest.raises(Unauthenticated):
        sign_in(world)
