"""Deleting an account: nothing of it is left in any column, and nobody pays for it (docs/adr/0042)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from app.domain.lifecycle import Outcome
from app.domain.plans import Tier
from app.domain.queues import Service
from app.errors import NotFound
from app.services.accounts import sessions, tiers, tokens
from app.services.accounts.forget import forget
from app.services.analyses.submit import submit
from app.services.jobs.fail import stop
from app.services.operations import reconcile
from app.services.operations.audit import audit
from app.services.operations.prune import prune
from app.store.operations import audit_log, reconciliations
from tests.conftest import A_FILE, NOW, World, keyed
from tests.services.busy import BROKEN, account, bury, fill

EMAIL = "leaver@example.org"
TABLES = "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'"


def places(world: World, needles: Iterable[str]) -> set[str]:
    """Tables with a row that says one of these in whichever column, in whichever case."""
    return {
        str(table["name"])
        for table in world.rows(TABLES)
        for needle in needles
        if world.rows(
            f"SELECT 1 AS found FROM {table['name']} AS t WHERE strpos(lower(CAST(t AS text)), lower(:needle)) > 0",
            needle=needle,
        )
    }


def broken(world: World) -> list[Any]:
    return [(finding.number, finding.rows) for finding in audit(world.uow) if finding.status != "holds"]


def known(world: World, user: UUID) -> set[str]:
    """All that identifies a user: give them one of everything an account can have."""
    token = tokens.add_token(world.uow, user, name="laptop of the leaver", now=NOW)
    link = sessions.sign_in_link(world.uow, user, actor="cli:test", now=NOW)
    session = sessions.sign_in(world.uow, sessions.sign_in_link(world.uow, user, actor="cli:test", now=NOW), now=NOW)
    tiers.change_tier(world.uow, user, Tier.ENTERPRISE, world.policy, actor=str(user), now=NOW)
    with world.uow.begin() as tx:
        reconciliations.add(tx, since=NOW, jobs=1, events=0, differences=[{"user_id": str(user)}], now=NOW)
    submit(world.uow, user, world.wanted("secret-project"), world.policy, key=keyed("my-key-7", b"f" * 32), now=NOW)
    hashes = {str(row["hash"]) for row in world.rows("SELECT encode(token_hash, 'hex') AS hash FROM api_tokens")}
    assert session
    return {
        str(user),
        user.hex,
        EMAIL,
        token.prefix,
        "laptop of the leaver",
        link,
        "secret-project",
        "my-key-7",
    } | hashes


@pytest.mark.proof
def test_after_deleting_an_account_no_column_of_any_table_says_anything_of_it(world: World, fairlane: Any) -> None:
    stranger = world.user(Tier.PRO)
    world.finish(world.running(stranger), stranger, [A_FILE])
    user = world.user(Tier.PRO, email=EMAIL)
    needles = known(world, user)
    finished, running = world.running(user), world.running(user)
    world.finish(finished, user, [A_FILE])
    bury(world, world.submit(user))
    mark = "INSERT INTO bookmarks (user_id, codebase_id, created_at) SELECT :user, id, now() FROM codebases RETURNING 1"
    world.rows(mark, user=user)
    assert len(places(world, needles)) > 9
    assert "bookmarks" in places(world, needles)
    done = fairlane("user", "delete", EMAIL.upper(), "--yes", "--json")
    assert json.loads(done.output) == {"requests": 4, "bills": 1, "cancelled": 2, "stopping": 1}
    assert places(world, needles) == {"durable_message"}  # until its worker has heard
    assert stop(world.uow, running, Service.ANALYSIS, user, now=NOW) is Outcome.CANCELLED
    assert places(world, needles) == set()
    assert broken(world) == []
    prune(world.uow, now=NOW + timedelta(seconds=1))
    named = {str(job["job_id"]) for job in world.rows("SELECT job_id FROM analysis_requests")}
    assert len(named) == 1
    assert places(world, [str(finished.job_id), str(running.job_id)]) == set()
    assert broken(world) == []


LOG = "SELECT actor, subject, facts FROM audit_log WHERE action = 'test' ORDER BY id"


def logged(world: World, *entries: dict[str, object]) -> None:
    with world.uow.begin() as tx:
        for entry in entries:
            audit_log.add(tx, str(entry.pop("actor", "cli")), "test", str(entry.pop("subject", "q")), **entry)


def test_the_log_forgets_an_address_only_where_it_stands_as_a_whole(world: World) -> None:
    kept = [
        {"reason": "asked by ops@example.org, ticket 7"},
        {"reason": "ops.s@e, s@e.org, s@e-x, xs@e, +s@e, s@ee and s@e@f"},
        {"reason": f"job {uuid4()}", "ids": [1, 2], "deep": {"a": None, "b": "s@example.org"}},
    ]
    logged(world, *(dict(entry) for entry in kept))
    stranger = world.user(email="s@e")
    forget(world.uow, stranger, actor=str(stranger), now=NOW)
    assert [row["facts"] for row in world.rows(LOG)] == kept


@pytest.mark.parametrize(
    "email", ["ann.b@example.org", "a+b.(c)[d]*$\\x@example.org", 'o"h@example.org', "o'hara@example.org"]
)
def test_the_log_says_deleted_account_in_place_of_an_address_and_an_id(world: World, email: str) -> None:
    user = world.user(email=email)
    said = [f"asked by {email}.", f"<{email.upper()}>", f"{email}, {email}", f"x\n{email}\ty", f"id {user}"]
    logged(world, {"reasons": said, "n": 7}, {"actor": user, "subject": email})
    forget(world.uow, user, actor="cli", now=NOW)
    first, second = world.rows(LOG)
    gone = "deleted account"
    assert first["facts"] == {
        "reasons": [f"asked by {gone}.", f"<{gone}>", f"{gone}, {gone}", f"x\n{gone}\ty", f"id {gone}"],
        "n": 7,
    }
    assert second == {"actor": gone, "subject": gone, "facts": {}}


@pytest.mark.parametrize(("email", "reason"), [
    ("n@e.org", "line\n@e.org"), ("n@e.org", "a\\\n@e.org"), ("u0001@e.org", "a\x01@e.org"), ("\\b@e.org", "\\\b@e.org"),
])  # fmt: skip
def test_an_address_is_not_found_within_an_escape_of_the_log(world: World, email: str, reason: str) -> None:
    user = world.user(email=email)
    logged(world, {"reason": reason}, {"reason": f"\\{email} {email}"})
    forget(world.uow, user, actor="cli", now=NOW)
    reasons = [row["facts"]["reason"] for row in world.rows(LOG)]
    assert reasons == [reason, "\\deleted account deleted account"]


def test_bills_stay_for_ever_as_nobodys(world: World) -> None:
    user = world.user(Tier.PRO, email=EMAIL)
    delivery = world.running(user)
    world.finish(delivery, user, [A_FILE])
    forget(world.uow, user, actor="test", now=NOW)
    [bill] = world.rows("SELECT * FROM usage_events")
    assert (bill["user_id"], bill["quota_amount"], bill["event_type"]) == (None, 1, "analysis")
    assert delivery.job_id not in (bill["job_id"], bill["resource_id"])
    assert bill["accepted_at"] == bill["created_at"] == NOW.replace(hour=0)
    assert reconcile.reconcile(world.uow, now=NOW).differences == []


def test_the_bills_of_jobs_that_others_paid_for_still_agree_with_what_was_reserved(world: World) -> None:
    payer, asker, wanted = world.user(Tier.PRO), world.user(Tier.PRO), world.wanted()
    delivery = world.running(payer, wanted)
    assert world.submit(asker, wanted) == delivery.job_id
    world.finish(delivery, payer, [A_FILE])
    forget(world.uow, asker, actor="test", now=NOW)
    [accepted] = world.rows("SELECT facts FROM job_events WHERE event = 'accepted'")
    assert accepted["facts"]["quota"]["units"] == 1
    assert reconcile.reconcile(world.uow, now=NOW).differences == []


def test_a_job_that_runs_while_its_user_is_deleted_ends_cancelled_and_unbilled(world: World) -> None:
    user = world.user(Tier.PRO, email=EMAIL)
    delivery, late = world.running(user), world.running(user)
    forget(world.uow, user, actor="test", now=NOW)
    assert world.finish(delivery, user, [A_FILE]) is Outcome.CANCELLED
    assert world.fail(late, user, BROKEN) is Outcome.CANCELLED
    assert world.rows("SELECT DISTINCT status::text FROM analyses") == [{"status": "cancelled"}]
    for table in ("usage_events", "quota_reservations", "execution_slots", "kombu_message"):
        assert world.value(f"SELECT count(*) FROM {table}") == 0
    assert broken(world) == []


def test_a_job_whose_users_row_somebody_deleted_by_hand_is_not_billed_either(world: World) -> None:
    user = world.user(Tier.PRO)
    delivery = world.running(user)
    world.rows("DELETE FROM users RETURNING id")
    assert world.finish(delivery, user, [A_FILE]) is Outcome.CANCELLED
    assert world.value("SELECT count(*) FROM usage_events") == 0


def test_what_others_have_of_a_deleted_account_stays_theirs(world: World) -> None:
    user, other, wanted = world.user(Tier.PRO, email=EMAIL), world.user(Tier.PRO), world.wanted()
    delivery = world.running(user, wanted)
    world.finish(delivery, user, [A_FILE])
    assert world.submit(other, wanted) == delivery.job_id
    waiting = world.wanted()
    joined = world.submit(user, waiting)
    assert world.submit(other, waiting) == joined
    forget(world.uow, user, actor="test", now=NOW)
    assert (world.status(delivery.job_id), world.status(joined)) == ("completed", "cancelled")
    assert places(world, [str(user), EMAIL]) == set()
    assert broken(world) == []


@pytest.mark.proof
def test_deleting_one_account_of_many_leaves_the_others_whole(world: World) -> None:
    busy = fill(world)
    before = world.rows("SELECT job_id, role FROM analysis_requests WHERE user_id = :id ORDER BY 1", id=busy.other)
    forget(world.uow, busy.user, actor="test", now=NOW)
    assert (
        world.rows("SELECT job_id, role FROM analysis_requests WHERE user_id = :id ORDER BY 1", id=busy.other) == before
    )
    assert account(world, busy.other).user_id == busy.other
    assert broken(world) == []
    with pytest.raises(NotFound):
        forget(world.uow, busy.user, actor="test", now=NOW)


def test_the_command_asks_first(world: World, fairlane: Any) -> None:
    user = world.user(Tier.PRO, email=EMAIL)
    assert fairlane("user", "delete", EMAIL).exit_code == 1
    assert account(world, user).email == EMAIL


@pytest.mark.parametrize("is_verified", [False, True])
def test_an_address_that_was_never_verified_takes_nothing_out_of_entries_that_are_older(
    world: World, is_verified: bool
) -> None:
    said = {"reason": "asked by ops@corp.example"}
    user = world.user(email="ops@corp.example")
    verified = "created_at = clock_timestamp(), email_verified_at = CASE WHEN :verified THEN clock_timestamp() END"
    older = "INSERT INTO audit_log (at, actor, action, subject, facts) VALUES (clock_timestamp() - interval '2 hours', 'cli', 'test', 'q', CAST(:facts AS jsonb))"
    with world.uow.begin() as tx:
        tx.run(text(f"UPDATE users SET {verified}"), verified=is_verified)
        tx.run(text(older), facts=json.dumps(said))
    logged(world, dict(said))
    forget(world.uow, user, actor=str(user), now=NOW)
    cleared = {"reason": "asked by deleted account"}
    assert [row["facts"] for row in world.rows(LOG)] == [cleared if is_verified else said, cleared]
