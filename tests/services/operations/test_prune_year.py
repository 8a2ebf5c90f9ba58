"""A simulated year of many users, pruned all along: tables follow what is alive, and no batch holds a lock for long.

PRUNE_USERS and PRUNE_DAYS: how many of each; PRUNE_EVERY: days between two rounds (`make prove-retention`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic

import pytest
from sqlalchemy import text

from app.domain.plans import Tier
from app.services.operations.audit import audit
from app.services.operations.prune import prune
from app.store.core.unit_of_work import Tx, UnitOfWork
from tests.conftest import NOW, World

pytestmark = pytest.mark.proof

USERS = int(os.environ.get("PRUNE_USERS", "70"))
DAYS = int(os.environ.get("PRUNE_DAYS", "90"))
EVERY = int(os.environ.get("PRUNE_EVERY", "1"))
#: Of ten users seven are free, two pro, and one pro_plus; nobody is there for ever.
LIVES = {Tier.FREE: 30, Tier.PRO: 180, Tier.PRO_PLUS: 365}
DAY = timedelta(days=1)

MEMBERS = """
    INSERT INTO users (id, email, created_at)
    SELECT gen_random_uuid(), n || '@x', :now FROM generate_series(1, CAST(:users AS integer)) AS n"""
#: With the tier and its days; the service's role makes no tables.
MEMBER = """
    SELECT n, id,
           CAST(CASE WHEN n % 10 < 7 THEN 'free' WHEN n % 10 < 9 THEN 'pro' ELSE 'pro_plus' END AS plan_tier) AS tier,
           CASE WHEN n % 10 < 7 THEN 30 WHEN n % 10 < 9 THEN 180 ELSE 365 END AS days
      FROM (SELECT id, CAST(split_part(email, '@', 1) AS integer) AS n FROM users) AS numbered"""
#: A seventh of the users analyses a new commit of their own repository each day, of which one file of twenty is new.
A_DAY = f"""
    WITH turn AS (
        SELECT u.n, u.id AS user_id, u.tier, u.days, gen_random_uuid() AS job_id, c.id AS codebase_id
          FROM ({MEMBER}) u JOIN codebases c ON c.name = 'r' || u.n WHERE u.n % 7 = CAST(:day AS integer) % 7),
    request AS (
        INSERT INTO analysis_requests (job_id, user_id, role, codebase_id, commit_sha, trigger, queue, tier, requested_at,
                                       retention_days)
        SELECT job_id, user_id, 'payer', codebase_id, CAST(:day AS text), 'user', 'analysis_default', tier, :now, days FROM turn),
    event AS (
        INSERT INTO job_events (job_id, at, event, facts)
        SELECT job_id, :now, event, CASE event WHEN 'accepted' THEN jsonb_build_object('quota', jsonb_build_object(
                   'mode', 'enforce', 'units', 1, 'used', 0, 'reserved', 0, 'period', 'p', 'at', CAST(:now AS timestamptz)))
               ELSE '{{"attempt": 1}}' END
          FROM turn, unnest(ARRAY['accepted', 'started', 'completed']) AS event),
    bill AS (
        INSERT INTO usage_events (user_id, event_type, quota_amount, job_id, resource_id, accepted_at, created_at)
        SELECT user_id, 'analysis', 1, job_id, job_id, :now, :now FROM turn),
    fact AS (
        INSERT INTO blob_facts (blob_id, language, parser_version, facts, created_at)
        SELECT n || '-' || CAST(:day AS text), 'python', '1', '{{}}', :now FROM turn),
    content AS (
        INSERT INTO file_inventories (blob_id, parser_version, digest, framework, tests, total_tests)
        SELECT n || '-' || CAST(:day AS text), '1', 'd', 'pytest', '[{{"name": "test_a", "line": 1, "suites": []}}]', 1 FROM turn
        RETURNING id, split_part(blob_id, '-', 1)::integer AS n),
    list AS (
        INSERT INTO file_lists (digest, size, used_at)
        SELECT convert_to(n || '-' || CAST(:day AS text), 'UTF8'), 1, :now FROM turn
        RETURNING id, split_part(convert_from(digest, 'UTF8'), '-', 1)::integer AS n),
    entry AS (
        INSERT INTO file_list_entries (file_list_id, position, path, file_inventory_id)
        SELECT l.id, 1, 'test_a.py', c.id FROM list l JOIN content c USING (n)),
    record AS (
        INSERT INTO analyses (id, codebase_id, commit_sha, status, parser_version, attempt, started_at, completed_at,
                              total_tests, summary)
        SELECT job_id, codebase_id, CAST(:day AS text), 'completed', '1', 1, :now, :now, 1, '{{}}' FROM turn)
    INSERT INTO analysis_file_lists (analysis_id, last_ordinal, first_ordinal, file_list_id)
    SELECT t.job_id, 1, 1, l.id FROM turn t JOIN list l USING (n) RETURNING 1"""
#: What is in somebody's history by the rules, counted from who was when to have asked for what.
ALIVE = f"""
    SELECT count(*) FROM ({MEMBER}) m, generate_series(1, CAST(:today AS integer)) AS day
     WHERE m.n % 7 = day % 7 AND day + m.days > :today"""
SIZES = ("analysis_requests", "analyses", "analysis_file_lists", "file_lists", "file_list_entries", "file_inventories")


class Timed(UnitOfWork):
    """Keeps how long each transaction took."""

    seconds: list[float] = []  # noqa: RUF012 - of the one test

    @contextmanager
    def begin(self) -> Iterator[Tx]:
        began = monotonic()
        with super().begin() as tx:
            yield tx
        self.seconds.append(monotonic() - began)


@pytest.mark.timeout(0 if USERS > 1000 else 300)
def test_after_a_year_each_table_is_as_large_as_what_is_alive(world: World) -> None:
    with world.uow.begin() as tx:
        tx.run(text(MEMBERS), users=USERS, now=NOW)
        tx.run(
            text("""INSERT INTO codebases (id, host, owner, name, created_at, last_viewed_at)
                    SELECT gen_random_uuid(), 'github.com', 'o', 'r' || split_part(email, '@', 1), :now, :now FROM users"""),
            now=NOW,
        )
    timed, made = Timed(world.uow.engine), 0
    for day in range(1, DAYS + 1):
        made += len(world.rows(A_DAY, day=day, now=NOW + day * DAY))
        if day % EVERY == 0 or day == DAYS:
            prune(timed, now=NOW + day * DAY, lists_live=DAY / 2)
    alive = world.value(ALIVE, today=DAYS)
    sizes = {table: world.value(f"SELECT count(*) FROM {table}") for table in SIZES}
    assert sizes == dict.fromkeys(SIZES, alive)
    assert world.value("SELECT count(*) FROM job_events") == 3 * int(str(alive))
    facts = """SELECT count(*) FILTER (WHERE i.id IS NOT NULL) AS of_files,
                      min(f.created_at) FILTER (WHERE i.id IS NULL) AS oldest_other
                 FROM blob_facts f LEFT JOIN file_inventories i USING (blob_id, parser_version)"""
    [found] = world.rows(facts)
    assert found == {"of_files": alive, "oldest_other": NOW + (DAYS - 30) * DAY}
    assert world.value("SELECT count(*) FROM usage_events") == made
    assert [one.number for one in audit(world.uow) if one.status != "holds"] == []
    print(f"\n{USERS} users, {DAYS} days: {made} jobs made, {alive} alive; {told(sorted(timed.seconds))}")


def told(seconds: list[float]) -> str:
    """How long batches took, in words."""
    p50, p99, p999 = (f"{seconds[int(len(seconds) * part)] * 1000:.0f} ms" for part in (0.5, 0.99, 0.999))
    over = sum(one > 0.1 for one in seconds)
    return f"{len(seconds)} batches: p50 {p50}, p99 {p99}, p99.9 {p999}, most {seconds[-1]:.2f} s, over 100 ms {over}"
