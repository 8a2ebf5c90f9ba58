"""A database on its way through the migrations, with rows and writers, for tests."""

from __future__ import annotations

from alembic import command
from sqlalchemy import Connection, Engine, text

from app import migrate as migrating

_FILL = (
    "INSERT INTO users (id, email, created_at) SELECT gen_random_uuid(), n || '@example.org', now() FROM generate_series(1, 100) n",
    """INSERT INTO sessions (id_hash, user_id, created_at, expires_at)
       SELECT decode(md5(n::text), 'hex'), u.id, now(), now() + interval '1 d'
         FROM (SELECT id, row_number() OVER () AS place FROM users) u, generate_series(1, :rows) n WHERE u.place = 1 + n % 100""",
    "INSERT INTO codebases (id, host, owner, name, created_at) VALUES (gen_random_uuid(), 'github.com', 'acme', 'shop', now())",
    """INSERT INTO analyses (id, codebase_id, commit_sha, status, parser_version, attempt, started_at, completed_at,
                             error_code)
       SELECT gen_random_uuid(), c.id, n, 'failed', '1', 1, now(), now(), 'timed_out' FROM codebases c, generate_series(1, :rows) n""",
    """INSERT INTO job_events (job_id, event, at)
       SELECT gen_random_uuid(), CASE WHEN n % 10 = 0 THEN 'snoozed' ELSE 'started' END, now() - n * interval '1 s'
         FROM generate_series(1, :rows) n""",
    """INSERT INTO usage_events (user_id, event_type, quota_amount, job_id, resource_id, accepted_at, created_at)
       SELECT u.id, CASE WHEN n % 7 = 0 THEN 'specview' ELSE 'analysis' END::usage_event_type, 1 + n % 3,
              gen_random_uuid(), gen_random_uuid(), now() - n * interval '1 min', now()
         FROM (SELECT id, row_number() OVER () AS place FROM users) u, generate_series(1, :rows) n WHERE u.place = 1 + n % 100""",
)
_ACCEPT = text("""
    WITH job AS (SELECT gen_random_uuid() AS id),
    record AS (
        INSERT INTO analyses (id, codebase_id, commit_sha, status, parser_version, attempt, started_at)
        SELECT job.id, c.id, job.id, 'running', '1', 1, now() FROM job, (SELECT id FROM codebases LIMIT 1) c),
    request AS (
        INSERT INTO analysis_requests (job_id, codebase_id, commit_sha, role, trigger, queue, requested_at)
        SELECT job.id, c.id, job.id, 'payer', 'scheduled', 'analysis_scheduled', now()
          FROM job, (SELECT id FROM codebases LIMIT 1) c)
    INSERT INTO job_events (job_id, event) SELECT id, 'snoozed' FROM job""")


def migrated_to(engine: Engine, revision: str) -> None:
    """Migrate to a revision, as `alembic upgrade`."""
    config = migrating._config()
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def filled(engine: Engine, rows: int) -> None:
    """Fill a database of revision 0037."""
    with engine.begin() as connection:
        for statement in _FILL:
            connection.execute(text(statement), {"rows": rows} if ":rows" in statement else {})


def accept(connection: Connection) -> None:
    """Write as an accept and a start do, without a commit."""
    connection.execute(_ACCEPT)
