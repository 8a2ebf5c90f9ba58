"""The audit of a busy second service finds nothing; of a broken one, what is broken and nothing else (docs/adr/0047)."""

from __future__ import annotations

from typing import Any

import pytest

from app.services.operations.audit import HOLDS, audit
from app.services.operations.reconcile import reconcile
from app.store.operations.invariants import ALL
from tests.conftest import NOW, World
from tests.race.invariants import BROKEN as RULES
from tests.services.busy import Busy
from tests.services.operations.breaking import NOBODY, misjudged, rules_broken_by
from tests.services.specifications.busy_writing import fill
from tests.tiers import few

#: As BREAKS of test_audit.
BREAKS: dict[str, tuple[str, str, list[dict[str, Any]]]] = {
    "a limit that was passed": (
        "I1",
        """UPDATE job_events SET facts = jsonb_set(facts, '{quota,limit}', '1')
            WHERE job_id = :completed AND event = 'accepted'""",
        [{"job_id": "completed", "limit": 1, "units": 2}],
    ),
    "an accept that overlooked another one": (
        "I1",
        """UPDATE job_events SET facts = jsonb_set(jsonb_set(facts, '{quota,used}', '0'), '{quota,reserved}', '0')
            WHERE job_id = :second AND event = 'accepted'""",
        [{"job_id": "second", "seen": 0, "there": 2, "limit": 4}],
    ),
    "a job whose message is gone": (
        "I2",
        "DELETE FROM kombu_message WHERE task_id = :retrying; DELETE FROM quota_reservations WHERE job_id = :retrying",
        [{"job_id": "retrying", "record": "running", "why": "lost"}],
    ),
    "an ended job that is queued again": (
        "I2",
        "INSERT INTO kombu_message (queue_id, payload, task_id) VALUES (1, '{}', :again)",
        [{"job_id": "again", "why": "ended and queued"}],
    ),
    "a job that ended twice": (
        "I2", "INSERT INTO job_events (job_id, event) VALUES (:half, 'cancelled')",
        [{"job_id": "half", "why": "ended twice"}],
    ),
    "an end that is told otherwise": (
        "I2", "UPDATE job_events SET event = 'failed' WHERE job_id = :stopped AND event = 'cancelled'",
        [{"job_id": "stopped", "record": "cancelled", "told": "failed", "why": "told otherwise"}],
    ),
    "a document without its bill": (
        "I3", "DELETE FROM usage_events WHERE job_id = :completed", [{"job_id": "completed", "due": 2, "billed": None}],
    ),
    "a bill for what fell back": (
        "I3", "UPDATE usage_events SET quota_amount = 2 WHERE job_id = :half",
        [{"job_id": "half", "due": 1, "billed": 2}],
    ),
    "a bill for words that were paid": (
        "I3",
        """INSERT INTO usage_events (user_id, event_type, quota_amount, job_id, resource_id, accepted_at, created_at)
           VALUES (:user, 'specview', 2, :again, :again, now(), now())""",
        [{"job_id": "again", "due": 0, "billed": 2}],
    ),
    "a cancelled job that was billed": (
        "I3",
        """INSERT INTO usage_events (user_id, event_type, quota_amount, job_id, resource_id, accepted_at, created_at)
           VALUES (:user, 'specview', 2, :stopped, :stopped, now() - interval '1 d', now())""",
        [{"job_id": "stopped", "record": "cancelled", "due": 0, "billed": 2}],
    ),
    "units held for an ended job": (
        "I4",
        """INSERT INTO quota_reservations (user_id, event_type, reserved_amount, job_id, accepted_at, expires_at)
           VALUES (:user, 'specview', 2, :buried, now(), now())""",
        [{"job_id": "buried", "why": "ended"}],
    ),
    "a job in flight that holds nothing": (
        "I4", "DELETE FROM quota_reservations WHERE job_id = :queued",
        [{"job_id": "queued", "held": 0, "due": 2, "why": "nothing held"}],
    ),
    "a job that holds one of two units": (
        "I4", "UPDATE quota_reservations SET reserved_amount = 1 WHERE job_id = :running",
        [{"job_id": "running", "held": 1, "due": 2, "why": "amount"}],
    ),
    "a slot beyond the limit": (
        "I5", "UPDATE execution_slots SET slot_no = 9 WHERE job_id = :running",
        [{"job_id": "running", "slot_no": 9, "service": "specview"}],
    ),
    "a start after the end": (
        "I6",
        """INSERT INTO job_events (job_id, event, facts) VALUES (:completed, 'started', '{"attempt": 1}')""",
        [{"job_id": "completed", "event": "started"}],
    ),
    "a document that lacks a feature": (
        "I7", "DELETE FROM spec_features WHERE document_id = :completed",
        [{"id": "completed", "said": 2, "found": 0}],
    ),
    "a document of the features of another lease": (
        "I7", "UPDATE spec_features SET draft = gen_random_uuid() WHERE document_id = :half",
        [{"id": "half", "said": 2, "found": 0}],
    ),
    "a key that names no job": (
        "I8", "UPDATE idempotency_keys SET body = jsonb_set(body, '{id}', to_jsonb(CAST(:nobody AS text)))",
        [{"user_id": "user", "job_id": str(NOBODY)}],
    ),
    "a delay that is over": (
        "I9",
        "UPDATE kombu_message SET visible_at = clock_timestamp() - interval '2 min' WHERE task_id = :retrying",
        [{"queue": "specview_priority", "task_id": "retrying", "why": "due"}],
    ),
    "a bill to another user": (
        "I11", "UPDATE usage_events SET user_id = :other WHERE job_id = :completed",
        [{"place": "usage_events", "job_id": "completed", "user_id": "other", "payer": "user"}],
    ),
    "a slot of another user": (
        "I11", "UPDATE execution_slots SET user_id = :other WHERE job_id = :running",
        [{"place": "execution_slots", "job_id": "running", "user_id": "other", "payer": "user"}],
    ),
    "a running sum with a bill too many": (
        "I13", "INSERT INTO usage_sums VALUES (:user, 'specview', '2020-01-01 00\\:00Z', 1)",
        [{"user_id": "user", "running": 1, "events": 0}],
    ),
    "a link's secret as it is": (
        "I12", "UPDATE spec_shares SET secret_hash = 'fs_0123456789abcdefghij0123456789'",
        [{"place": "spec_shares", "id": "completed"}],
    ),
    "a password in an error": (
        "I12", "UPDATE spec_documents SET error_message = 'POST https\\://me\\:hush@model.example/v1' WHERE id = :failed",
        [{"place": "spec_documents", "id": "failed"}],
    ),
}  # fmt: skip
#: By what breaks it, what a race is judged by beside the audit; "I7 two completed analyses of one commit" is of analyses.
JUDGED: dict[str, str] = {
    "I1 more used and reserved than the limit": "UPDATE usage_events SET quota_amount = 3 WHERE job_id = :first",
    "I2 a job that is lost": "DELETE FROM kombu_message WHERE task_id = :queued",
    "I2 a record that runs without a message": "DELETE FROM kombu_message WHERE task_id = :running",
    "I2 a message of an ended job": "INSERT INTO kombu_message (queue_id, payload, task_id) VALUES (1, '{}', :stopped)",
    "I3 completed and billable without one usage event": "DELETE FROM usage_events WHERE job_id = :half",
    "I3 billed without a completed and billable job": (
        "UPDATE spec_documents SET status = 'failed', error_code = 'x', version = NULL, units = NULL WHERE id = :half"
    ),
    "I4 an unfinished, billable job without its reservation": "DELETE FROM quota_reservations WHERE job_id = :running",
    "I4 a reservation without an unfinished, billable job": "DELETE FROM kombu_message WHERE task_id = :queued",
    "I5 more live slots than the limit": """
        UPDATE subscription_plans SET concurrent_jobs = 1 WHERE tier = 'enterprise';
        UPDATE kombu_message SET lease_token = (SELECT lease_token FROM execution_slots WHERE CAST(job_id AS text) = :lost)
         WHERE task_id = :lost""",
    "I5 a slot of an ended job": "DELETE FROM kombu_message WHERE task_id = :second",
    "I7 a document without all of its behaviours": "DELETE FROM spec_features WHERE document_id = :completed",
    "I9 a snoozed job beside a free slot that nobody was woken for": """
        UPDATE kombu_message SET delay_reason = 'parked', visible = false, visible_at = NULL, lease_token = NULL
         WHERE task_id = :second""",
}
#: Of a schedule, which is no service's; and of the daily count, which is broken below.
OF_NO_SERVICE = {"I10", "R"}


@pytest.fixture
def busy(world: World) -> Busy:
    return fill(world)


def test_specifications_in_every_state_break_nothing(busy: Busy) -> None:
    assert [(finding.number, finding.rows) for finding in audit(busy.world.uow) if finding.status != HOLDS] == []


@pytest.mark.proof
def test_the_audit_finds_each_break_of_a_specification_and_nothing_else(busy: Busy) -> None:
    wrong: dict[str, object] = {}
    for name, (number, breaking, expected) in BREAKS.items():
        if found := misjudged(busy, number, breaking, expected):
            wrong[name] = found
    assert wrong == {}


def test_every_invariant_of_a_service_is_broken_by_some_specification() -> None:
    assert {number for number, _, _ in BREAKS.values()} == {invariant.number for invariant in ALL} - OF_NO_SERVICE


@pytest.mark.proof
def test_each_rule_that_races_are_judged_by_is_broken_by_some_specification(busy: Busy) -> None:
    before = rules_broken_by(busy, "SELECT 1")
    deaf = [rule for rule, breaking in JUDGED.items() if rules_broken_by(busy, breaking)[rule] <= before[rule]]
    assert deaf == []
    assert JUDGED.keys() == RULES.keys() - {"a dead letter", "I7 two completed analyses of one commit"}


@pytest.mark.parametrize(
    ("breaking", "sides"),
    few(
        1,
        [
            ("DELETE FROM usage_events WHERE job_id = :half RETURNING id", (2, 3, 1, 2)),
            ("UPDATE usage_events SET quota_amount = 2 WHERE job_id = :half RETURNING id", (2, 3, 2, 4)),
            ("UPDATE spec_documents SET units = 0 WHERE id = :half RETURNING id", (1, 2, 2, 3)),
        ],
    ),
)
def test_the_daily_count_tells_a_difference_of_the_second_service_alone(
    busy: Busy, breaking: str, sides: tuple[int, int, int, int]
) -> None:
    assert reconcile(busy.world.uow, now=NOW).differences == []
    busy.world.rows(breaking, half=busy.jobs["half"])
    [difference] = reconcile(busy.world.uow, now=NOW).differences
    assert (difference["user_id"], difference["service"]) == (str(busy.user), "specview")
    assert tuple(difference[side] for side in ("jobs", "units", "events", "amount")) == sides
    assert [finding.number for finding in audit(busy.world.uow) if finding.status != HOLDS] == ["I3", "R"]
