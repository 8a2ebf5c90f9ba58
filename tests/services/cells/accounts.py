"""An account that has one of everything, and a picture of it that two cells can be compared by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

import pytest

from app.domain.lifecycle import Delivery, Outcome
from app.domain.plans import Tier
from app.services.accounts import sessions, tokens
from app.services.analyses.submit import submit
from app.services.cells import move_account
from app.services.operations.audit import audit
from app.services.operations.reconcile import reconcile
from tests.conftest import A_FILE, NOW, World, keyed
from tests.services.busy import BROKEN, GONE, leave
from tests.services.specifications.writing import Writing, file_of, of_a_model
from tests.services.webhooks.receiving import Hooks

#: What no service of this picture makes: a row of each.
MADE = (
    "INSERT INTO passwords VALUES (:user, 'scrypt$x', :now)",
    """INSERT INTO passkeys (user_id, credential_id, public_key, sign_count, name, created_at)
       VALUES (:user, '\\x01', '\\x02', 7, 'key \\ "of" mine', :now)""",
    "INSERT INTO github_links VALUES (:user, 4711, 'octo', :now)",
    "INSERT INTO one_time_secrets VALUES ('\\x03', 'reset', :user, :now)",
    "INSERT INTO model_shares VALUES (:user, :now, 12, 0.123456789012345678)",
    "INSERT INTO bookmarks (user_id, codebase_id, created_at) SELECT :user, id, :now FROM codebases ORDER BY name",
    """INSERT INTO spec_words (key, codebase_id, user_id, words, is_paid)
       SELECT '\\x04', id, :user, '["a"]', true FROM codebases ORDER BY name LIMIT 1""",
    "INSERT INTO audit_log (actor, action, subject, facts) VALUES ('cli:test', 'user.tier', :user, '{\"tier\": \"pro\"}')",
)
_JOBS = """(SELECT job_id FROM analysis_requests WHERE user_id = :user)"""
#: Table -> the rows of an account as JSON, without what is given anew in each cell.
PICTURE = {
    **{
        table: f"SELECT to_jsonb(t) - '{{id}}'::text[] AS row FROM {table} t WHERE user_id = :user"
        for table in ("user_subscriptions", "usage_events")
    },
    **{
        table: f"SELECT to_jsonb(t) AS row FROM {table} t WHERE user_id = :user"
        for table in (
            "passwords",
            "passkeys",
            "github_links",
            "one_time_secrets",
            "api_tokens",
            "sessions",
            "sign_in_links",
            "webhooks",
            "idempotency_keys",
            "model_shares",
            "quota_reservations",
            "usage_sums",
            "spec_requests",
        )
    },
    "users": "SELECT to_jsonb(t) AS row FROM users t WHERE id = :user",
    "bookmarks": """
        SELECT to_jsonb(t) - '{id,codebase_id}'::text[] || jsonb_build_object('name', c.name) AS row
          FROM bookmarks t JOIN codebases c ON c.id = t.codebase_id WHERE user_id = :user""",
    "spec_words": """
        SELECT to_jsonb(t) - 'codebase_id' || jsonb_build_object('name', c.name) AS row
          FROM spec_words t JOIN codebases c ON c.id = t.codebase_id WHERE user_id = :user""",
    "spec_documents": """
        SELECT to_jsonb(t) - 'codebase_id' || jsonb_build_object('name', c.name) AS row
          FROM spec_documents t JOIN codebases c ON c.id = t.codebase_id WHERE user_id = :user""",
    "spec_features": """
        SELECT to_jsonb(t) AS row FROM spec_features t JOIN spec_documents d ON d.id = t.document_id
         WHERE d.user_id = :user AND d.status = 'completed'""",
    "spec_shares": """
        SELECT to_jsonb(t) AS row FROM spec_shares t JOIN spec_documents d ON d.id = t.document_id
         WHERE d.user_id = :user""",
    "webhook_deliveries": """
        SELECT to_jsonb(t) - '{id,event_id}'::text[] || jsonb_build_object('event', e.event, 'at', e.at) AS row
          FROM webhook_deliveries t JOIN webhooks w ON w.id = t.webhook_id LEFT JOIN job_events e ON e.id = t.event_id
         WHERE w.user_id = :user""",
    "analysis_requests": """
        SELECT to_jsonb(t) - '{id,codebase_id}'::text[] || jsonb_build_object(
                   'name', c.name, 'place', row_number() OVER (ORDER BY t.id)) AS row
          FROM analysis_requests t JOIN codebases c ON c.id = t.codebase_id WHERE user_id = :user""",
    "codebases": """
        SELECT to_jsonb(t) - 'id' AS row FROM codebases t WHERE id IN (
               SELECT codebase_id FROM analysis_requests WHERE user_id = :user)""",
    "analyses": f"""
        SELECT to_jsonb(t) - 'codebase_id' || jsonb_build_object('name', c.name) AS row
          FROM analyses t JOIN codebases c ON c.id = t.codebase_id WHERE t.id IN {_JOBS}""",
    "files": f"""
        SELECT to_jsonb(i) - '{{id}}'::text[] || jsonb_build_object(
                   'job', f.analysis_id, 'place', f.ordinal, 'path', f.path, 'why', f.skipped) AS row
          FROM analysis_files f LEFT JOIN file_inventories i ON i.id = f.file_inventory_id
         WHERE f.analysis_id IN {_JOBS}""",
    "branch_commits": f"""
        SELECT to_jsonb(b) - 'codebase_id' AS row FROM branch_commits b JOIN analyses a
            ON a.codebase_id = b.codebase_id AND a.commit_sha = b.commit_sha WHERE a.id IN {_JOBS}""",
    "job_events": f"""
        SELECT to_jsonb(t) - '{{id,written_by}}'::text[] || jsonb_build_object(
                   'place', row_number() OVER (PARTITION BY job_id ORDER BY id), 'facts', facts - CASE
                   WHEN EXISTS (SELECT FROM usage_events u WHERE u.job_id = t.job_id AND u.user_id = :user)
                       OR EXISTS (SELECT FROM quota_reservations q WHERE q.job_id = t.job_id)
                   THEN '' ELSE 'quota' END) AS row
          FROM job_events t WHERE job_id IN {_JOBS} AND event <> 'moved'""",
    "audit_log": "SELECT to_jsonb(t) - 'id' AS row FROM audit_log t WHERE subject = CAST(:user AS text)",
    "messages": """
        SELECT jsonb_build_object('task', m.task_id, 'queue', q.name, 'key', m.unique_key, 'step', m.step) AS row
          FROM broker_message m JOIN broker_queue q ON q.id = m.queue_id WHERE m.group_name = CAST(:user AS text)""",
}


def picture(world: World, user: UUID) -> dict[str, list[str]]:
    """Everything of an account, by table; a cell that it has left has nothing."""
    found = {}
    for table, query in PICTURE.items():
        rows = world.rows(f"SELECT CAST(row AS text) AS row FROM ({query}) AS all_of_it ORDER BY 1", user=str(user))
        found[table] = [str(row["row"]) for row in rows]
    return found


#: Table -> what names its job.
_OF_A_JOB = {
    "analysis_requests": "job_id",
    "job_events": "job_id",
    "analyses": "id",
    "analysis_file_lists": "analysis_id",
    "spec_requests": "job_id",
    "spec_documents": "id",
    "spec_features": "document_id",
}


def left_of(world: World, jobs: Iterable[UUID]) -> list[str]:
    """The tables that have anything of these jobs."""
    ids = [str(job) for job in jobs]
    return [
        table
        for table, key in _OF_A_JOB.items()
        if world.rows(f"SELECT 1 AS found FROM {table} WHERE {key} = ANY (CAST(:ids AS uuid[])) LIMIT 1", ids=ids)
    ]


def broken(world: World) -> list[object]:
    """What the audit finds, after a reconciliation of which it tells, too."""
    reconcile(world.uow, now=world.now + timedelta(hours=1), since=world.now - timedelta(days=1))
    return [(finding.number, finding.rows) for finding in audit(world.uow) if finding.status != "holds"]


@dataclass(frozen=True)
class Everything:
    """An account; running: two jobs that workers hold, jobs: all of the unfinished ones."""

    user: UUID
    running: tuple[Delivery, Delivery]
    jobs: tuple[UUID, ...]


def everything(world: World) -> Everything:
    """An account with one of everything; nobody else asks for its unfinished jobs."""
    user, other = world.user(Tier.PRO_PLUS), world.user(Tier.PRO)
    Hooks(world).add(user)
    completed, failed = world.running(user), world.running(user, world.wanted("garden"))
    world.finish(completed, user, [A_FILE, replace(A_FILE, path="b.py", skipped="too_large", tests=[])])
    world.fail(failed, user, GONE)
    leave(world, world.submit(user), user)
    _with_others(world, user, other)
    _specified(world, user)
    token, _ = [tokens.add_token(world.uow, user, scopes=("read",), name=name, now=NOW) for name in ("root", "ci")]
    world.rows("UPDATE api_tokens SET parent_id = :id WHERE name = 'ci' AND id <> :id RETURNING id", id=token.token_id)
    sessions.sign_in(world.uow, sessions.sign_in_link(world.uow, user, actor="cli:test", now=NOW), now=NOW)
    sessions.sign_in_link(world.uow, user, actor="cli:test", now=NOW)
    for statement in MADE:
        world.rows(f"{statement} RETURNING 1 AS done", user=str(user), now=NOW)
    return _unfinished(world, user)


def _with_others(world: World, user: UUID, other: UUID) -> None:
    """Ended jobs that both have: one that each has paid, and one that the user had left."""
    theirs, mine, left = world.wanted("common"), world.wanted("common"), world.wanted("common")
    for payer, asker, wanted in ((other, user, theirs), (user, other, mine)):
        delivery = world.running(payer, wanted)
        world.submit(asker, wanted)
        world.finish(delivery, payer)
    delivery = world.running(other, left)
    world.submit(user, left)
    leave(world, delivery.job_id, user)
    world.finish(delivery, other)


def _specified(world: World, user: UUID) -> None:
    writing = Writing(of_a_model(world))
    document = writing.written(user, writing.analysed(user, file_of("test_a.py", "test_one", "test_two")))
    world.rows("INSERT INTO spec_shares VALUES (sha256('x'), :id, :now) RETURNING 1 AS done", id=document, now=NOW)


def _unfinished(world: World, user: UUID) -> Everything:
    retrying = world.running(user)
    assert world.fail(retrying, user, BROKEN) is Outcome.RETRY
    running = (world.running(user), world.running(user))
    answer = submit(world.uow, user, world.wanted(), world.policy, key=keyed("k", b"f" * 32), now=NOW)
    queued = [answer.job.id, *(world.submit(user) for _ in range(4))]
    return Everything(user, running, (retrying.job_id, *(one.job_id for one in running), *queued))


def ended(world: World, user: UUID, job: UUID) -> Outcome:
    """Run an unfinished job to its end."""
    delivery = world.lease(job)
    assert world.start(delivery, user) is Outcome.STARTED
    return world.finish(delivery, user, [A_FILE])


def die_moving(source: World, target: World, user: UUID) -> None:
    """Begin to move an account of epoch 0, and die before anything of it is sent ahead."""

    def die(*_: object) -> None:
        raise RuntimeError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(move_account, "send_ahead", die)
        with pytest.raises(RuntimeError):
            move_account.move(source.uow, target.uow, user, epoch=1)
