"""The audit of a busy database finds nothing; of a broken one, what is broken and nothing else (docs/adr/0024)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from app.services.jobs import read_jobs
from app.services.operations.audit import BROKEN, HOLDS, UNKNOWN, audit
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork
from app.store.operations.invariants import ALL
from app.store.operations.invariants.invariant import Invariant
from tests.conftest import NOW, World
from tests.services.busy import Busy, fill
from tests.services.operations.breaking import NOBODY, misjudged

#: (invariant, what breaks it, (column, value) that tell the rows it finds)
BREAKS: dict[str, tuple[str, str, list[dict[str, Any]]]] = {
    "a limit that was passed": (
        "I1",
        """UPDATE job_events SET facts = jsonb_set(facts, '{quota,limit}', '0')
            WHERE job_id = :completed AND event = 'accepted'""",
        [{"job_id": "completed", "limit": 0, "units": 1}],
    ),
    "an accept that overlooked another one": (
        "I1",
        """UPDATE job_events SET facts = jsonb_set(jsonb_set(facts, '{quota,used}', '0'), '{quota,reserved}', '0')
            WHERE job_id = :second AND event = 'accepted'""",
        [{"job_id": "second", "seen": 0, "there": 1, "limit": 4}],
    ),
    "a job whose message is gone": (
        "I2", "DELETE FROM kombu_message WHERE task_id = :scheduled", [{"job_id": "scheduled", "why": "lost"}],
    ),
    "a record whose message is gone, with nobody who pays": (
        "I2", "DELETE FROM kombu_message WHERE task_id = :payer_left",
        [{"job_id": "payer left", "record": "running", "why": "lost"}],
    ),
    "an ended job that is queued again": (
        "I2",
        "INSERT INTO kombu_message (queue_id, payload, task_id) VALUES (1, '{}', :completed)",
        [{"job_id": "completed", "why": "ended and queued"}],
    ),
    "a cancelled job that is queued again": (
        "I2",
        "INSERT INTO kombu_message (queue_id, payload, task_id) VALUES (1, '{}', :cancelled)",
        [{"job_id": "cancelled", "record": "no record", "why": "ended and queued"}],
    ),
    "a job that ended twice": (
        "I2",
        "INSERT INTO job_events (job_id, event) VALUES (:completed, 'failed')",
        [{"job_id": "completed", "why": "ended twice"}],
    ),
    "an end that is told otherwise": (
        "I2",
        "UPDATE job_events SET event = 'failed' WHERE job_id = :completed AND event = 'completed'",
        [{"job_id": "completed", "record": "completed", "told": "failed", "why": "told otherwise"}],
    ),
    "a completed job without its bill": (
        "I3", "DELETE FROM usage_events WHERE job_id = :completed", [{"job_id": "completed", "due": 1, "billed": None}],
    ),
    "a failed job that was billed": (
        "I3",
        """INSERT INTO usage_events (user_id, event_type, quota_amount, job_id, resource_id, accepted_at, created_at)
           VALUES (:user, 'analysis', 1, :failed, :failed, now() - interval '1 d', now())""",
        [{"job_id": "failed", "record": "failed", "due": 0, "billed": 1}],
    ),
    "a bill though the payer left": (
        "I3",
        """INSERT INTO usage_events (user_id, event_type, quota_amount, job_id, resource_id, accepted_at, created_at)
           VALUES (:user, 'analysis', 1, :payer_free, :payer_free, now() - interval '1 d', now())""",
        [{"job_id": "payer free", "record": "completed", "due": 0, "billed": 1}],
    ),
    "a bill of another amount": (
        "I3", "UPDATE usage_events SET quota_amount = 2 WHERE job_id = :later",
        [{"job_id": "later", "due": 1, "billed": 2}],
    ),
    "a bill in another period": (
        "I3",
        "UPDATE usage_events SET accepted_at = accepted_at + interval '40 d' WHERE job_id = :payer_back",
        [{"job_id": "payer back", "due": 1, "billed": 1}],
    ),
    "a bill for no job": (
        "I3",
        """INSERT INTO usage_events (user_id, event_type, quota_amount, job_id, resource_id, accepted_at, created_at)
           VALUES (:user, 'analysis', 1, :nobody, :nobody, now(), now())""",
        [{"job_id": "nobody", "record": "no job", "billed": 1}],
    ),
    "units held for no job": (
        "I4",
        """INSERT INTO quota_reservations (user_id, event_type, reserved_amount, job_id, accepted_at, expires_at)
           VALUES (:user, 'analysis', 1, :nobody, now(), now())""",
        [{"job_id": "nobody", "why": "no message"}],
    ),
    "units held for an ended job": (
        "I4",
        """INSERT INTO quota_reservations (user_id, event_type, reserved_amount, job_id, accepted_at, expires_at)
           VALUES (:user, 'analysis', 1, :buried, now(), now())""",
        [{"job_id": "buried", "why": "ended"}],
    ),
    "units held for a payer who left": (
        "I4",
        """INSERT INTO quota_reservations (user_id, event_type, reserved_amount, job_id, accepted_at, expires_at)
           VALUES (:user, 'analysis', 1, :payer_left, now(), now())""",
        [{"job_id": "payer left", "why": "payer left"}],
    ),
    "a job in flight that holds nothing": (
        "I4", "DELETE FROM quota_reservations WHERE job_id = :queued",
        [{"job_id": "queued", "held": 0, "due": 1, "why": "nothing held"}],
    ),
    "a dead letter's job that holds nothing": (
        "I4", "DELETE FROM quota_reservations WHERE job_id = :dead", [{"job_id": "dead", "why": "nothing held"}],
    ),
    "a job that holds too much": (
        "I4", "UPDATE quota_reservations SET reserved_amount = 3 WHERE job_id = :running",
        [{"job_id": "running", "held": 3, "due": 1, "why": "amount"}],
    ),
    "a slot beyond the limit": (
        "I5", "UPDATE execution_slots SET slot_no = 9 WHERE job_id = :running",
        [{"job_id": "running", "slot_no": 9, "slot_limit": 5}],
    ),
    "a start after the end": (
        "I6",
        """INSERT INTO job_events (job_id, event, facts) VALUES (:completed, 'started', '{"attempt": 1}')""",
        [{"job_id": "completed", "event": "started"}],
    ),
    "an attempt told of after a later one": (
        "I6",
        """INSERT INTO job_events (job_id, event, facts)
           VALUES (:running, 'started', '{"attempt": 2}'), (:running, 'retrying', '{"attempt": 1}')""",
        [{"job_id": "running", "event": "retrying", "attempt": 1, "newest": 2}],
    ),
    "a commit completed twice": (
        "I7",
        """DROP INDEX analyses_one_result;
           INSERT INTO analyses SELECT (jsonb_populate_record(a, jsonb_build_object('id', CAST(:nobody AS text)))).*
             FROM analyses a WHERE id = :unbilled""",
        [{"completed": 2}],
    ),
    "a result that lacks tests": (
        "I7", "DELETE FROM analysis_file_lists WHERE analysis_id = :completed",
        [{"id": "completed", "said": 1, "found": None}],
    ),
    "tests of an analysis that is not completed": (
        "I7",
        """INSERT INTO analysis_file_lists SELECT :running, last_ordinal, first_ordinal, file_list_id
             FROM analysis_file_lists WHERE analysis_id = :later""",
        [{"id": "running", "completed": 0, "found": 1}],
    ),
    "a key that names no job": (
        "I8", "UPDATE idempotency_keys SET body = jsonb_set(body, '{id}', to_jsonb(CAST(:nobody AS text)))",
        [{"user_id": "other", "job_id": str(NOBODY)}],
    ),
    "a batch's key that names no job": (
        "I8",
        """UPDATE idempotency_keys
              SET body = jsonb_build_object('items', jsonb_build_array(
                      jsonb_build_object('status', 404, 'problem', '{}'::jsonb), jsonb_build_object('job', body),
                      jsonb_build_object('job', jsonb_build_object('id', CAST(:nobody AS text)))))""",
        [{"user_id": "other", "job_id": str(NOBODY)}],
    ),
    "a key without a job": (
        "I8", "UPDATE idempotency_keys SET body = body - 'id'", [{"user_id": "other", "job_id": None}],
    ),
    "a key with a refusal": ("I8", "UPDATE idempotency_keys SET status = 402", [{"user_id": "other", "status": 402}]),
    "a delay that is over": (
        "I9",
        """UPDATE kombu_message SET visible = false, visible_at = clock_timestamp() - interval '2 min'
            WHERE task_id = :retrying""",
        [{"task_id": "retrying", "why": "due"}],
    ),
    "a lease that is over": (
        "I9",
        "UPDATE kombu_message SET visible_at = clock_timestamp() - interval '2 min' WHERE task_id = :running",
        [{"task_id": "running", "why": "lease over"}],
    ),
    "a slot of the schedule that was sent twice": (
        "I10",
        """ALTER TABLE schedule_runs DROP CONSTRAINT schedule_runs_pkey;
           INSERT INTO schedule_runs SELECT * FROM schedule_runs""",
        [{"name": "sweep", "sent": 2}],
    ),
    "a slot of the schedule that was sent too early": (
        "I10", "UPDATE schedule_runs SET sent_at = slot_at - interval '2 min'", [{"name": "sweep", "sent": 1}],
    ),
    "a bill to another user": (
        "I11", "UPDATE usage_events SET user_id = :other WHERE job_id = :completed",
        [{"place": "usage_events", "job_id": "completed", "user_id": "other", "payer": "user"}],
    ),
    "a reservation of another user": (
        "I11", "UPDATE quota_reservations SET user_id = :other WHERE job_id = :queued",
        [{"place": "quota_reservations", "job_id": "queued", "user_id": "other", "payer": "user"}],
    ),
    "a slot of another user": (
        "I11", "UPDATE execution_slots SET user_id = :other WHERE job_id = :running",
        [{"place": "execution_slots", "job_id": "running", "user_id": "other", "payer": "user"}],
    ),
    "a message of another user": (
        "I11", "UPDATE kombu_message SET user_id = :other WHERE task_id = :queued",
        [{"place": "broker_message", "job_id": "queued", "user_id": "other", "payer": "user"}],
    ),
    "a token as it is": (
        "I12", "UPDATE api_tokens SET token_hash = 'fl_0123456789abcdefghij0123456789abcdefghij'",
        [{"place": "api_tokens", "size": 43}],
    ),
    "a secret as long as a hash": (
        "I12", "UPDATE sign_in_links SET token_hash = '0123456789abcdefghij0123456789ab'",
        [{"place": "sign_in_links", "size": 32}],
    ),
    "a token in the log of acts": (
        "I12",
        """UPDATE audit_log SET facts = '{"token": "fl_0123456789abcdefghij0123456789abcdefghij"}'
            WHERE id = (SELECT min(id) FROM audit_log)""",
        [{"place": "audit_log"}],
    ),
    "a password in an error": (
        "I12", "UPDATE analyses SET error_message = 'fetch https://me\\:hush@example.org/x' WHERE id = :failed",
        [{"place": "analyses", "id": "failed"}],
    ),
    "a running sum with a bill too many": (
        "I13", "INSERT INTO usage_sums VALUES (:user, 'analysis', '2020-01-01 00\\:00Z', 1)",
        [{"user_id": "user", "running": 1, "events": 0}],
    ),
    "a reconciliation that found a difference": (
        "R",
        """INSERT INTO reconciliations (ran_at, since, jobs, events, differences)
           SELECT now(), now(), 2, 1, jsonb_build_array(jsonb_build_object('user_id', CAST(:user AS text), 'jobs', 2))""",
        [{"user_id": "user", "jobs": 2, "events": None}],
    ),
}  # fmt: skip


@pytest.fixture
def busy(world: World) -> Busy:
    return fill(world)


def shaken(world: World) -> dict[str, list[dict[str, Any]]]:
    return {finding.number: finding.rows for finding in audit(world.uow) if finding.status != HOLDS}


def test_jobs_in_every_state_break_nothing(busy: Busy) -> None:
    assert shaken(busy.world) == {}
    states = {busy.world.status(job_id) for job_id in busy.jobs.values()}
    assert states == {"queued", "waiting", "running", "retrying", "completed", "failed", "cancelled"}


def test_what_has_gone_by_is_left_out(busy: Busy) -> None:
    busy.world.rows("DELETE FROM usage_events WHERE job_id = :id RETURNING id", id=busy.jobs["completed"])
    [bill] = [found for found in audit(busy.world.uow, since=NOW + timedelta(days=1)) if found.number == "I3"]
    assert bill.status == HOLDS
    [bill] = [found for found in audit(busy.world.uow, since=NOW - timedelta(days=1)) if found.number == "I3"]
    assert (bill.status, bill.broken) == (BROKEN, 1)


@pytest.mark.proof
def test_the_audit_finds_each_break_and_nothing_else(busy: Busy) -> None:
    wrong: dict[str, object] = {}
    for name, (number, breaking, expected) in BREAKS.items():
        if found := misjudged(busy, number, breaking, expected):
            wrong[name] = found
    assert wrong == {}


def test_every_invariant_is_broken_by_some_test() -> None:
    assert {number for number, _, _ in BREAKS.values()} == {invariant.number for invariant in ALL}
    assert len({invariant.number for invariant in ALL}) == len(ALL)


def test_an_invariant_that_takes_too_long_is_not_taken_for_one_that_holds(world: World) -> None:
    endless = Invariant(
        "X", "slow", "Slow.", "SELECT 1 AS a, 2 AS b FROM pg_sleep(60) WHERE CAST(:since AS text) IS NULL"
    )
    [finding] = audit(world.uow, within=timedelta(milliseconds=50), invariants=[endless])
    assert (finding.status, finding.rows) == (UNKNOWN, [])
    engine = make_engine(world.uow.engine.url.render_as_string(hide_password=False), statement_seconds=5)
    [finding] = audit(UnitOfWork(engine), within=timedelta(minutes=10), invariants=[endless])
    engine.dispose()
    assert finding.status == UNKNOWN
    assert finding.seconds < 60


def test_the_audit_cannot_write(world: World) -> None:
    writing = Invariant("X", "writes", "Writes.", "SELECT nextval('message_id_sequence') AS a, :since AS b")
    with pytest.raises(Exception, match="read-only transaction"):
        audit(world.uow, invariants=[writing])


def test_all_broken_rows_are_counted_and_the_first_are_shown(world: World) -> None:
    many = Invariant("X", "many", "Many.", "SELECT n AS a, CAST(:since AS text) AS b FROM generate_series(1, 250) AS n")
    [finding] = audit(world.uow, most=100, invariants=[many])
    assert (finding.broken, len(finding.rows), finding.rows[0]["a"]) == (250, 100, 1)


def test_the_timeline_keeps_the_payers_quota_to_itself(world: World) -> None:
    payer = world.user()
    job_id = world.submit(payer)
    [accepted] = read_jobs.timeline(world.uow, job_id, None)
    assert set(accepted.facts) == {"eta"}
    [accepted] = read_jobs.timeline(world.uow, job_id, None, asker=payer)
    assert set(accepted.facts) == {"queue", "tier", "eta"}
    assert world.value("SELECT facts->'quota'->>'limit' FROM job_events WHERE job_id = :id", id=job_id) == "50"
