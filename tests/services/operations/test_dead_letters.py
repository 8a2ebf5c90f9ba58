"""Dead letters in the operator's hands: jobs that go on, jobs that have ended, and what is no job."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy.exc import DBAPIError

from app.domain.queues import ALL_QUEUES
from app.services.jobs.cancel import cancel
from app.services.operations.dead_letters import Chosen, Span, drop, find, oldest, redrive
from app.services.operations.sweep import sweep
from app.store.accounts import users
from app.store.operations import dead_letters
from tests.conftest import NOW, World

BURY = """
    WITH dead AS (DELETE FROM kombu_message WHERE task_id = :id RETURNING *)
    INSERT INTO kombu_dead_letter (queue, task_id, user_id, payload, reason, unique_key, rank_step, enqueued_at)
    SELECT name, task_id, user_id, payload, 'lost', unique_key, rank_step, enqueued_at
      FROM dead JOIN kombu_queue ON kombu_queue.id = queue_id RETURNING id"""
ADD = """
    INSERT INTO kombu_dead_letter (queue, task_id, payload, reason)
    VALUES ('analysis_default', :id, '{}', 'undecodable') RETURNING id"""


def buried(world: World, job_id: UUID) -> int:
    [row] = world.rows(BURY, id=str(job_id))
    return int(str(row["id"]))


def stray(world: World, task_id: str | None = None) -> int:
    """A letter that is no job."""
    return int(str(world.value(ADD, id=task_id)))


def operator(world: World, act: Any, *ids: int, **chosen: Any) -> tuple[list[int], dict[int, str]]:
    done = act(world.uow, Chosen(ids or None, **chosen), actor="cli")
    return done.done, {letter: why.split(";")[0].split(":")[0] for letter, why in done.kept.items()}


def test_an_unfinished_job_goes_on_where_it_was(world: World) -> None:
    user = world.user()
    delivery = world.running(user)
    letter = buried(world, delivery.job_id)
    assert operator(world, redrive, letter) == ([letter], {})
    assert world.status(delivery.job_id) == "queued"
    again = world.lease(delivery.job_id)
    world.start(again, user)
    world.finish(again, user)
    assert world.status(delivery.job_id) == "completed"
    assert world.value("SELECT count(*) FROM usage_events") == 1
    events = [row["event"] for row in world.rows("SELECT event FROM job_events ORDER BY id")]
    assert events == ["accepted", "started", "redriven", "started", "completed"]


@pytest.mark.parametrize("end", ["sweep", "cancel"])
def test_a_job_that_has_ended_stays_ended(world: World, end: str) -> None:
    user = world.user()
    job_id = world.submit(user)
    if end == "cancel":
        with world.uow.begin() as tx:
            account = users.lock(tx, user)
        assert account is not None
        world.rows("INSERT INTO kombu_dead_letter (task_id, queue, payload, reason, user_id)"
                   " SELECT task_id, 'analysis_default', payload, 'lost', user_id FROM kombu_message RETURNING id")  # fmt: skip
        cancel(world.uow, job_id, account, world.policy, now=NOW)
        letter = int(str(world.value("SELECT id FROM kombu_dead_letter")))
    else:
        letter = buried(world, job_id)
        assert sweep(world.uow, world.policy, now=NOW).buried == 1
    assert operator(world, redrive, letter) == ([], {letter: "its job has ended"})
    assert world.value("SELECT count(*) FROM kombu_message") == 0
    assert operator(world, drop, letter) == ([letter], {})


def test_a_job_that_others_joined_goes_on_after_its_payer_left(world: World) -> None:
    payer, joiner, wanted = world.user(), world.user(), world.wanted()
    job_id = world.submit(payer, wanted)
    assert world.submit(joiner, wanted) == job_id
    with world.uow.begin() as tx:
        account = users.lock(tx, payer)
    assert account is not None
    cancel(world.uow, job_id, account, world.policy, now=NOW)
    letter = buried(world, job_id)
    assert operator(world, redrive, letter) == ([letter], {})


def test_the_letter_of_an_unfinished_job_is_not_dropped(world: World) -> None:
    letter = buried(world, world.submit(world.user()))
    assert operator(world, drop, letter) == ([], {letter: "its job has not ended"})
    assert sweep(world.uow, world.policy, now=NOW).buried == 1
    assert operator(world, drop, letter) == ([letter], {})


def test_what_is_no_job_goes_back_and_may_be_dropped(world: World) -> None:
    letters = [stray(world), stray(world, "no uuid"), stray(world, str(uuid4()))]
    assert operator(world, drop, letters[0]) == ([letters[0]], {})
    assert operator(world, redrive, queue="analysis_default", reason="undecodable") == (letters[1:], {})
    assert world.value("SELECT count(*) FROM kombu_message WHERE visible") == 2


def test_the_same_commit_asked_for_again_is_in_the_way(world: World) -> None:
    user, wanted = world.user(), world.wanted()
    letter = buried(world, world.submit(user, wanted))
    world.submit(user, wanted)
    unknown = letter + 100
    assert operator(world, redrive, letter, unknown) == (
        [],
        {
            letter: "there is a message with the same task id or unique key",
            unknown: "there is no such letter, or another operator is acting on it",
        },
    )


def test_the_sweep_and_an_operator_leave_each_others_letters_alone(world: World) -> None:
    job_id = world.submit(world.user())
    letter = buried(world, job_id)
    with world.uow.begin() as tx:
        assert dead_letters.lock(tx, ids=[letter], queue=None, reason=None, after=0, most=1)
        assert sweep(world.uow, world.policy, now=NOW).buried == 0
    with world.uow.begin() as tx:
        assert [(one.job_id, one.wanted) for one in dead_letters.unfinished_jobs(tx)] == [(job_id, True)]
        assert operator(world, redrive, letter)[0] == []


def test_acts_are_in_the_audit_log_and_looks_are_not(world: World) -> None:
    first, second = stray(world), stray(world)
    find(world.uow, Chosen())
    operator(world, redrive, first)
    operator(world, drop, second, reason="undecodable")
    operator(world, drop, second)  # nothing is there
    rows = world.rows("SELECT actor, action, subject, facts FROM audit_log ORDER BY id")
    assert rows == [
        {"actor": "cli", "action": "dead.redrive", "subject": "all", "facts": {"ids": [first], "reason": None}},
        {"actor": "cli", "action": "dead.drop", "subject": "all", "facts": {"ids": [second], "reason": "undecodable"}},
    ]


def test_the_command_lists_redrives_and_drops(world: World, fairlane: Any) -> None:
    first, second = stray(world), stray(world, "two")
    table = fairlane("dead")
    assert (table.exit_code, "undecodable" in table.output, "two" in table.output) == (0, True, True)
    assert [letter["id"] for letter in json.loads(fairlane("dead", "list", "--json").output)] == [second, first]
    assert json.loads(fairlane("dead", "list", "--json", "--before", str(second)).output)[0]["id"] == first
    assert "payload: {}" in fairlane("dead", "list", str(first)).output
    done = fairlane("dead", "redrive", str(first), "999", "--json")
    assert (done.exit_code, json.loads(done.output)["redriven"]) == (1, [first])
    assert fairlane("dead", "drop", "--queue", "analysis_default", "--yes").output == "1 dropped\n"
    assert fairlane("dead", "list", "--json").output == "[]\n"


def test_the_command_asks_before_it_drops_or_takes_all_and_says_what_is_allowed(world: World, fairlane: Any) -> None:
    letter = stray(world)
    for arguments in (("drop", str(letter)), ("drop",), ("redrive",)):
        refused = fairlane("dead", *arguments)
        assert (refused.exit_code, "of 1 dead letters needs --yes" in refused.output) == (2, True)
    unknown = fairlane("dead", "list", "--reason", "bored")
    assert (unknown.exit_code, "expected one of lost, rejected, undecodable" in unknown.output) == (1, True)
    assert fairlane("dead", "redrive", "--yes").exit_code == 0


@pytest.mark.proof
def test_queues_shows_each_number_and_marks_estimates(world: World, fairlane: Any) -> None:
    stray(world)
    world.rows("""
        WITH made AS (INSERT INTO kombu_message (queue_id, payload, visible, visible_at, delay_reason)
                      SELECT id, '{}', false, now() + interval '1 h', 'eta'
                        FROM kombu_queue, generate_series(1, 16000) WHERE name = 'analysis_default' RETURNING 1)
        SELECT count(*) FROM made""")
    facts = {row["queue"]: row for row in json.loads(fairlane("queues", "--json").output)}
    assert (facts["analysis_default"]["dead"], facts["analysis_default"]["estimated"]) == (1, ["delayed"])
    assert abs(facts["analysis_default"]["delayed"] / 16_000 - 1) < 0.15
    assert f"~{facts['analysis_default']['delayed']}" in fairlane("queues").output


def test_queues_cuts_no_name_and_no_number_off_at_80_characters(
    world: World, fairlane: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    world.submit(world.user())
    world.rows("UPDATE kombu_message SET visible_at = clock_timestamp() - interval '123456 s' RETURNING id")
    shown = fairlane("queues").output
    assert "…" not in shown
    assert any(int(number) >= 123_456 for number in re.findall(r"\b\d{6}\b", shown))
    assert all(queue in shown for queue in ALL_QUEUES)


def test_the_oldest_letters_are_counted_and_handled_at_once_and_later_ones_are_left(world: World) -> None:
    letters = [stray(world) for _ in range(5)]
    every = Chosen(queue="analysis_default")
    assert oldest(world.uow, every, most=3) == Span(3, letters[2], 2)
    assert oldest(world.uow, replace(every, after=letters[2]), most=3) == Span(2, letters[4], 0)
    assert oldest(world.uow, Chosen(queue="specview_default")) is None
    seen = replace(every, last=letters[2])
    late = stray(world)  # it died after the operator had looked
    assert redrive(world.uow, seen, actor="cli", most=2).done == letters[:2]
    assert drop(world.uow, seen, actor="cli", most=10).done == [letters[2]]
    assert [letter.id for letter in find(world.uow, Chosen())] == [late, letters[4], letters[3]]
    acts = world.rows("SELECT action, subject, facts -> 'ids' AS ids FROM audit_log ORDER BY id")
    assert [tuple(act.values()) for act in acts] == [
        ("dead.redrive", "analysis_default", letters[:2]), ("dead.drop", "analysis_default", [letters[2]]),
    ]  # fmt: skip


def test_letters_handled_at_once_are_all_or_none(world: World) -> None:
    letters = [stray(world) for _ in range(3)]
    world.rows("""
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'the disk is full'; END $$;
        CREATE TRIGGER refuse BEFORE INSERT ON audit_log FOR EACH ROW EXECUTE FUNCTION refuse();
        SELECT 1""")
    try:
        for act in (redrive, drop):
            with pytest.raises(DBAPIError, match="the disk is full"):
                act(world.uow, Chosen(), actor="cli", most=10)
    finally:
        world.rows("DROP TRIGGER refuse ON audit_log; DROP FUNCTION refuse; SELECT 1")
    assert sorted(letter.id for letter in find(world.uow, Chosen())) == letters
    assert world.value("SELECT count(*) FROM kombu_message") == 0


def test_a_letter_that_another_connection_redrives_is_left_to_it(world: World) -> None:
    mine, theirs = [stray(world) for _ in range(2)]
    with world.uow.begin() as tx:
        assert dead_letters.lock(tx, ids=[theirs], most=1)
        assert redrive(world.uow, Chosen(last=theirs), actor="cli", most=10).done == [mine]
        assert drop(world.uow, Chosen(last=theirs), actor="cli", most=10).done == []
        assert dead_letters.redrive(tx, [theirs]) == {theirs: "redriven"}
    assert world.value("SELECT count(*) FROM kombu_message") == 2
    assert oldest(world.uow, Chosen()) is None


def test_of_two_who_act_at_the_same_time_each_letter_obeys_one(world: World) -> None:
    letters, together = [stray(world) for _ in range(300)], Barrier(3)

    def act(what: Any) -> list[int]:
        together.wait()
        return list(what(world.uow, Chosen(last=letters[-1]), actor="cli", most=1_000).done)

    with ThreadPoolExecutor(3) as threads:
        redriven, dropped, again = threads.map(act, (redrive, drop, redrive))
    assert sorted(redriven + dropped + again) == letters
    assert world.value("SELECT count(*) FROM kombu_message") == len(redriven) + len(again)
    logged = world.rows("SELECT jsonb_array_elements(facts -> 'ids') AS letter FROM audit_log")
    assert sorted(row["letter"] for row in logged) == letters
