"""Links that set a password: each costs one hash, and a refusal does not use it up."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from argon2 import PasswordHasher

from app.concurrency import Lane
from app.errors import Busy, InvalidInput, Problem
from app.services.accounts import accounts, password_hashes, password_resets
from tests.conftest import NOW, World
from tests.services.accounts.test_passwords import EMAIL, PASSWORD, sign_in, sign_up

NEW, POSTS = "another long password", 8


def link(world: World) -> str:
    return password_resets.hand_out(world.uow, accounts.find_person(world.uow, EMAIL), actor="cli:test", now=NOW)


def reset(world: World, secret: str, password: str = NEW) -> str:
    return password_resets.reset(world.uow, secret, password, now=NOW).session


def test_a_link_that_is_sent_many_times_at_once_makes_one_hash(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    sign_up(world)
    secret, made, together = link(world), [], Barrier(POSTS)

    class Watched:
        def hash(self, password: str) -> str:
            made.append(password)
            return PasswordHasher().hash(password)

    monkeypatch.setattr(password_hashes, "_hasher", Watched())
    monkeypatch.setattr(password_hashes, "_own_lane", Lane("sign-ins", POSTS, POSTS))  # as many processes have together

    def post(number: int) -> bool:
        together.wait(60)
        try:
            return bool(reset(world, secret, f"{NEW} {number}"))
        except Problem:
            return False

    with ThreadPoolExecutor(POSTS) as threads:
        assert sum(threads.map(post, range(POSTS))) == 1
    assert len(made) == 1


@pytest.mark.parametrize("password", ["short", EMAIL])
def test_a_password_that_is_refused_does_not_use_the_link_up(world: World, password: str) -> None:
    sign_up(world)
    secret = link(world)
    with pytest.raises(InvalidInput):
        reset(world, secret, password)
    assert reset(world, secret)


def test_a_busy_service_does_not_use_the_link_up(world: World, lane: Lane) -> None:
    sign_up(world)
    secret = link(world)
    with lane.place("somebody"), pytest.raises(Busy):
        reset(world, secret)
    assert reset(world, secret)


def test_somebody_who_is_signed_in_does_not_keep_the_reader_of_a_link_from_its_use(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_up(world)
    lane = Lane("sign-ins", 2, 1)
    monkeypatch.setattr(password_hashes, "_own_lane", lane)
    with lane.place(str(accounts.find_person(world.uow, EMAIL).user_id)):
        assert reset(world, link(world))


def test_of_two_links_at_once_one_sets_the_password(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    sign_up(world)
    slow, quick = link(world), link(world)
    hashed = password_hashes.Turn.hashed

    def and_the_other(password: str) -> str:
        if password == PASSWORD * 2:
            reset(world, quick)
        return hashed(password)

    monkeypatch.setattr(password_hashes, "_own_lane", Lane("sign-ins", 2, 2))
    monkeypatch.setattr(password_hashes.Turn, "hashed", staticmethod(and_the_other))
    with pytest.raises(InvalidInput):
        reset(world, slow, PASSWORD * 2)
    assert sign_in(world, password=NEW)
