"""One account cannot delay the deliveries of others, however many of its receivers hang."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from uuid import UUID

import pytest
from sqlalchemy import event

from app.errors import Conflict
from app.services.webhooks import log
from app.services.webhooks.deliver import Reply
from app.services.webhooks.dispatch import dispatch
from app.services.webhooks.turns import HURRIED, PATIENT, take_turns, waiting
from app.store.core.connections import make_engine
from app.store.webhooks import webhook_turns
from tests.conftest import World
from tests.services.webhooks.receiving import Hooks

#: Only a defect makes a test wait so long.
NEVER = 30.0
#: A round that no machine is too slow for.
a_round = partial(take_turns, seconds=600)
PENDING = "SELECT count(*) FROM webhook_deliveries WHERE status = 'pending'"


@dataclass
class Hanging:
    """Receivers that are silent until they are released; they count how many of each account are posted to at once."""

    owners: dict[str, UUID] = field(default_factory=dict)
    silent: set[UUID] = field(default_factory=set)
    release: threading.Event = field(default_factory=threading.Event)
    told: list[UUID] = field(default_factory=list)
    patience: list[float] = field(default_factory=list)
    most_at_once: int = 0
    after: Callable[[UUID], object] = lambda _: None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _now: dict[UUID, int] = field(default_factory=dict)

    def post(self, url: str, body: bytes, headers: dict[str, str], seconds: float) -> Reply:
        owner = self.owners[url]
        with self._lock:
            self.patience.append(seconds)
            self.told.append(owner)
            self._now[owner] = self._now.get(owner, 0) + 1
            self.most_at_once = max(self.most_at_once, self._now[owner])
        self.after(owner)
        hangs = owner in self.silent
        answered = not hangs or self.release.wait(NEVER)
        with self._lock:
            self._now[owner] -= 1
        return Reply(None, fault="timed_out") if hangs or not answered else Reply(204)

    def webhook(self, hooks: Hooks, owner: UUID) -> UUID:
        """A webhook with a test that is due."""
        url = f"https://hooks.example.org/{len(self.owners)}"
        self.owners[url] = owner
        made, _ = hooks.add(owner, url=url)
        log.send_test(hooks.world.uow, owner, made.id)
        return made.id


def test_the_receivers_of_one_account_that_hang_hold_one_place(hooks: Hooks) -> None:
    ann, bob = hooks.world.user(), hooks.world.user()
    receivers = Hanging(silent={ann})
    for _ in range(10):
        receivers.webhook(hooks, ann)
    receivers.webhook(hooks, bob)
    # ann's receivers are silent until bob is told: if bob had to wait for one of them, both would wait for ever
    receivers.after = lambda owner: owner == bob and receivers.release.set()
    a_round(hooks.world.uow, hooks.sender(receivers.post), places=2)
    assert receivers.release.is_set()
    assert (receivers.told.index(bob) <= 1, receivers.told.count(bob), receivers.told.count(ann)) == (True, 1, 10)
    assert receivers.most_at_once == 1


def test_what_comes_due_while_a_receiver_hangs_is_sent_by_the_same_round(hooks: Hooks) -> None:
    ann, bob = hooks.world.user(), hooks.world.user()
    receivers = Hanging(silent={ann})
    receivers.webhook(hooks, ann)

    def then(owner: UUID) -> None:
        if owner == ann:
            receivers.webhook(hooks, bob)
        else:
            receivers.release.set()

    receivers.after = then
    a_round(hooks.world.uow, hooks.sender(receivers.post))
    assert receivers.told == [ann, bob]


def test_two_processes_give_an_account_one_turn_at_a_time(hooks: Hooks) -> None:
    world, ann, bob = hooks.world, hooks.world.user(), hooks.world.user()
    receivers = Hanging(silent={ann})
    for _ in range(3):
        receivers.webhook(hooks, ann)
    receivers.after = lambda owner: owner == bob and receivers.release.set()
    started = threading.Barrier(2, timeout=NEVER)

    def process(_: int) -> int:
        started.wait()
        return a_round(world.uow, hooks.sender(receivers.post))

    with ThreadPoolExecutor(2) as two:
        both = [two.submit(process, number) for number in range(2)]
        receivers.webhook(hooks, bob)
        a_round(world.uow, hooks.sender(receivers.post))  # if the two have ended before they saw it
        for one in both:
            one.result()
    assert (receivers.told.count(ann), receivers.told.count(bob)) == (3, 1)
    assert receivers.most_at_once == 1


def test_accounts_take_turns_and_the_one_that_was_served_longest_ago_is_next(hooks: Hooks) -> None:
    ann, bob, eve = (hooks.world.user() for _ in range(3))
    receivers = Hanging()
    for owner in (ann, ann, ann, bob, bob, eve):
        receivers.webhook(hooks, owner)
    a_round(hooks.world.uow, hooks.sender(receivers.post), places=1)
    assert {*receivers.told[:3]} == {ann, bob, eve}
    assert {*receivers.told[3:5]} == {ann, bob}
    assert receivers.told[5] == ann


def test_a_receiver_gets_less_time_while_most_places_are_taken(hooks: Hooks) -> None:
    owners = [hooks.world.user() for _ in range(4)]
    receivers = Hanging(silent=set(owners))
    receivers.webhook(hooks, owners[0])

    def then(owner: UUID) -> None:
        if owner == owners[0]:
            for other in owners[1:]:
                receivers.webhook(hooks, other)
        elif len(receivers.told) == len(owners):
            receivers.release.set()

    receivers.after = then
    a_round(hooks.world.uow, hooks.sender(receivers.post), places=4)
    assert min(receivers.patience) == HURRIED
    assert receivers.patience[0] > HURRIED
    assert max(receivers.patience) <= PATIENT


def test_a_turn_whose_worker_died_is_given_again_when_its_lease_is_over(hooks: Hooks) -> None:
    world, ann = hooks.world, hooks.world.user()
    receivers = Hanging()
    receivers.webhook(hooks, ann)
    with world.uow.begin() as tx:
        assert len(webhook_turns.claim(tx, 5, seconds=600)) == 1
    assert a_round(world.uow, hooks.sender(receivers.post)) == 0
    world.rows("UPDATE webhooks SET turn_until = turn_until - interval '1 h' RETURNING id")
    assert a_round(world.uow, hooks.sender(receivers.post)) == 1


def test_no_message_is_sent_for_an_account_whose_turn_is_under_way(hooks: Hooks) -> None:
    world, ann = hooks.world, hooks.world.user()
    receivers = Hanging()
    for _ in range(2):
        receivers.webhook(hooks, ann)
    world.rows("DELETE FROM kombu_message RETURNING id")
    with world.uow.begin() as tx:
        webhook_turns.claim(tx, 1, seconds=600)
    assert dispatch(world.uow) == 0
    world.rows("UPDATE webhooks SET turn_until = NULL RETURNING id")
    assert dispatch(world.uow) == 2


def test_a_clock_that_was_set_back_does_not_keep_an_account_waiting(hooks: Hooks) -> None:
    world, ann = hooks.world, hooks.world.user()
    receivers = Hanging()
    for _ in range(2):
        receivers.webhook(hooks, ann)
    world.rows("DELETE FROM kombu_message RETURNING id")
    world.rows("UPDATE webhooks SET turn_until = clock_timestamp() + interval '1 h' RETURNING id")
    assert dispatch(world.uow) == 2
    with world.uow.begin() as tx:
        assert len(webhook_turns.claim(tx, 5, seconds=30)) == 1
    with world.uow.begin() as tx:
        assert webhook_turns.claim(tx, 5, seconds=30) == []  # one turn of the account at a time, all the same


def test_a_webhook_has_one_pending_test_and_a_test_has_one_attempt(hooks: Hooks, world: World) -> None:
    user = world.user()
    hook, _ = hooks.add(user)
    log.send_test(world.uow, user, hook.id)
    with pytest.raises(Conflict, match="A test event is already pending"):
        log.send_test(world.uow, user, hook.id)
    hooks.receiver.replies = [Reply(500, "boom", "refused")]
    assert hooks.turn(hook.id) == 1
    assert hooks.rows("status, attempts") == [{"status": "failed", "attempts": 1}]
    log.send_test(world.uow, user, hook.id)
    assert world.value(PENDING) == 1


def test_of_many_tests_sent_at_once_one_is_accepted(hooks: Hooks, world: World) -> None:
    user = world.user()
    hook, _ = hooks.add(user)
    ready = threading.Barrier(8, timeout=NEVER)

    def send(_: int) -> bool:
        ready.wait()
        try:
            log.send_test(world.uow, user, hook.id)
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(send, range(8))) == 1
    assert world.value(PENDING) == 1


def test_a_webhook_has_at_most_a_hundred_pending_deliveries_and_the_log_names_those_beyond(hooks: Hooks) -> None:
    world, user = hooks.world, hooks.world.user()
    hook, _ = hooks.add(user)
    world.rows(
        "INSERT INTO webhook_deliveries (webhook_id, type, happened_at, due_at)"
        " SELECT id, 'analysis.completed', clock_timestamp(), clock_timestamp() FROM webhooks, generate_series(1, 99)"
        " RETURNING id"
    )
    for _ in range(2):
        delivery = world.running(user)
        world.finish(delivery, user)
    assert world.value(PENDING) == 100
    [newest, *_], _ = log.deliveries(world.uow, user, hook.id, before=None, limit=1)
    assert (newest.status, newest.fault, newest.attempts) == ("failed", "too_many_pending", 0)
    with pytest.raises(Conflict, match="100 deliveries are pending"):
        log.replay(world.uow, user, hook.id, newest.id)
    with pytest.raises(Conflict, match="100 deliveries are pending"):
        log.send_test(world.uow, user, hook.id)
    world.rows(
        "UPDATE webhook_deliveries SET status = 'delivered', due_at = NULL WHERE status = 'pending' RETURNING id"
    )
    assert log.replay(world.uow, user, hook.id, newest.id).status == "pending"


def test_only_an_account_that_gets_no_turn_waits_for_one(hooks: Hooks) -> None:
    world, ann, bob = hooks.world, hooks.world.user(), hooks.world.user()
    receivers = Hanging()
    silent, resting, off = receivers.webhook(hooks, ann), receivers.webhook(hooks, bob), receivers.webhook(hooks, bob)
    world.rows("UPDATE webhook_deliveries SET due_at = clock_timestamp() - interval '1 h' RETURNING id")
    change = "UPDATE webhooks SET {} WHERE id = :id RETURNING id"
    world.rows(change.format("paused_until = clock_timestamp() + interval '1 h'"), id=resting)
    world.rows(change.format("disabled_at = clock_timestamp(), disabled_because = 'gone'"), id=off)
    deliveries, seconds = waiting(world.uow)
    assert (deliveries, round(seconds / 60)) == (3, 60)
    world.rows(change.format("turn_until = clock_timestamp() - interval '10 min'"), id=silent)
    assert round(waiting(world.uow).seconds / 60) == 10
    world.rows(change.format("turn_until = clock_timestamp() + interval '1 min'"), id=silent)
    assert waiting(world.uow).seconds == 0


def test_a_round_opens_no_more_connections_than_a_worker_keeps(hooks: Hooks) -> None:
    together = threading.Barrier(8)
    receivers = Hanging(after=lambda _: together.wait(NEVER))  # all of them record at once
    for _ in range(8):
        owner = hooks.world.user()
        for _ in range(3):
            receivers.webhook(hooks, owner)
    url = hooks.world.uow.engine.url.render_as_string(hide_password=False)
    engine, opened = make_engine(url, pool_size=3), []
    event.listen(engine, "connect", lambda *_: opened.append(1))
    a_round(replace(hooks.world.uow, engine=engine), hooks.sender(receivers.post))
    engine.dispose()
    assert hooks.world.value(PENDING) == 0
    assert len(opened) <= 3
