"""Webhooks by a real beat and a real worker: receivers that fail, hang or are gone, and a worker that is killed."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from uuid import UUID

import pytest
from durable_harness.waiting import wait_for
from sqlalchemy import text
from standardwebhooks import Webhook as Verifier

from app.domain.lifecycle import Failure
from app.domain.webhooks import WebhookFields
from app.services.operations.audit import HOLDS, audit
from app.services.webhooks import webhooks
from app.services.webhooks.dispatch import QUEUE
from app.services.webhooks.sealing import Keyring
from app.services.webhooks.webhooks import Where
from tests.conftest import World, raw_connection
from tests.e2e.receivers import Receiver, receiving, status
from tests.nodes import Nodes

pytestmark = pytest.mark.proof

KEY = "a secret key that only tests use"
ENV = {"SECRET_KEY": KEY, "WEBHOOK_LOOPBACK": "true", "PUBLIC_URL": "https://fairlane.test"}
SHORT = {"LEASE_SECONDS": "3", "HEARTBEAT_SECONDS": "1"}
WHERE = Where(allow_loopback=True)
HOOK = "SELECT status, attempts, status_code, fault FROM webhook_deliveries ORDER BY id"
#: What is not the worker's to wait for in a test.
SOON = (
    "UPDATE webhooks SET paused_until = NULL, turn_until = NULL RETURNING id",
    "UPDATE webhook_deliveries SET due_at = clock_timestamp() WHERE due_at IS NOT NULL RETURNING id",
)
BLOCKED = """
    SELECT pid FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%UPDATE webhook_deliveries%'"""


def add(world: World, user: UUID, url: str) -> tuple[UUID, str]:
    keyring = Keyring.of([KEY])
    made, secret = webhooks.add(world.uow, user, WebhookFields(url, "", []), WHERE, keyring, now=world.uow.now())
    return made.id, secret


def completed(world: World, user: UUID) -> UUID:
    delivery = world.running(user)
    world.finish(delivery, user)
    return delivery.job_id


def soon(world: World) -> None:
    for statement in SOON:
        world.rows(statement)


def verified(receiver: Receiver, secret: str) -> set[str]:
    """The ids of all requests, whose signatures another implementation has checked."""
    for headers, body in receiver.got:
        assert Verifier(secret).verify(body, headers) == json.loads(body)
    return {headers["webhook-id"] for headers, _ in receiver.got}


def ended(world: World) -> World:
    """The clock of the test's steps is the real one, so that the audit sees what is usual."""
    return replace(world, now=world.uow.now())


def test_a_delivery_is_repeated_while_the_receiver_fails_or_hangs(world: World, nodes: Nodes) -> None:
    world, held = ended(world), threading.Event()
    user = world.user()

    def hang(*_: object) -> int:
        held.wait(60)
        return 200

    with receiving(status(500), hang, status(204)) as receiver:
        _, secret = add(world, user, receiver.url)
        job_id = completed(world, user)
        nodes.worker(QUEUE, **ENV)
        nodes.beat(**ENV)
        wait_for(lambda: world.rows(HOOK)[0]["attempts"] == 1, "the first attempt")
        assert world.rows(HOOK) == [{"status": "pending", "attempts": 1, "status_code": 500, "fault": "refused"}]
        soon(world)
        wait_for(lambda: world.rows(HOOK)[0]["attempts"] == 2, "the attempt that hangs")
        assert world.rows(HOOK) == [{"status": "pending", "attempts": 2, "status_code": None, "fault": "timed_out"}]
        held.set()
        soon(world)
        wait_for(lambda: world.rows(HOOK)[0]["status"] == "delivered", "the attempt that succeeds")
        assert len(receiver.got) == 3
        assert len(verified(receiver, secret)) == 1
    told = json.loads(receiver.got[0][1])
    assert (told["type"], told["data"]["id"]) == ("analysis.completed", str(job_id))
    assert told["data"]["links"]["self"] == f"https://fairlane.test/api/v1/analyses/{job_id}"
    whole(world)


def test_a_receiver_that_is_gone_is_told_nothing_more(world: World, nodes: Nodes) -> None:
    world = ended(world)
    user = world.user()
    with receiving(status(410)) as receiver:
        add(world, user, receiver.url)
        failing = world.running(user)
        world.fail(failing, user, Failure("too_large", "Too large.", retryable=False))
        nodes.worker(QUEUE, **ENV)
        nodes.beat(**ENV)
        wait_for(lambda: world.rows(HOOK)[0]["attempts"] == 1, "the answer 410")
        assert world.value("SELECT disabled_because FROM webhooks") == "gone"
        completed(world, user)
        assert len(world.rows(HOOK)) == 1
    whole(world)


def whole(world: World) -> None:
    """Nothing of a user's was taken, nothing was given up, and all invariants hold."""
    for table in ("kombu_dead_letter", "execution_slots", "quota_reservations"):
        assert world.rows(f"SELECT * FROM {table}") == []
    assert [finding for finding in audit(world.uow) if finding.status != HOLDS] == []


def test_a_worker_killed_between_the_answer_and_its_record_tells_it_again_under_the_same_id(
    world: World, nodes: Nodes
) -> None:
    world = ended(world)
    user = world.user()
    answered = threading.Event()
    with raw_connection(nodes.database_url) as other, receiving(status(200)) as receiver:

        def lock_and_answer(*_: object) -> int:
            other.execute(text("SELECT id FROM webhook_deliveries FOR UPDATE"))
            answered.set()
            return 200

        receiver.answers = [lock_and_answer, status(200)]
        _, secret = add(world, user, receiver.url)
        completed(world, user)
        worker = nodes.worker(QUEUE, **ENV, **SHORT)
        nodes.beat(**ENV)
        wait_for(answered.is_set, "the first answer")
        # the worker has the answer, and its record waits for our lock
        wait_for(lambda: world.rows(BLOCKED), "the record to be written")
        worker.container.kill()
        other.rollback()
        assert world.rows(HOOK) == [{"status": "pending", "attempts": 0, "status_code": None, "fault": None}]
        nodes.worker(QUEUE, **ENV, **SHORT)
        soon(world)  # its turn ended with it, which others know when the lease is over
        wait_for(lambda: world.rows(HOOK)[0]["status"] == "delivered", "the second delivery")
        assert len(receiver.got) == 2
        assert len(verified(receiver, secret)) == 1
        assert receiver.got[0][1] == receiver.got[1][1]
    assert [finding for finding in audit(world.uow) if finding.status != HOLDS] == []


def test_a_receiver_that_hangs_delays_no_job_and_takes_no_slot(world: World, nodes: Nodes) -> None:
    world, held = ended(world), threading.Event()
    user = world.user()

    def hang(*_: object) -> int:
        held.wait(60)
        return 200

    with receiving(hang) as receiver:
        add(world, user, receiver.url)
        completed(world, user)
        nodes.worker(QUEUE, **ENV)
        nodes.beat(**ENV)
        wait_for(lambda: receiver.got, "the receiver to hang")
        usage = world.rows("SELECT * FROM usage_events")
        job_id = completed(world, user)  # the one slot of a free account is free
        assert world.status(job_id) == "completed"
        assert world.value("SELECT count(*) FROM usage_events") == len(usage) + 1
        assert world.rows("SELECT * FROM quota_reservations") == []
        held.set()
