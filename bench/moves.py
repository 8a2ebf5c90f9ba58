"""How long an account can do nothing while it moves to another cell, by the length of its history.

Two embedded servers on this machine, whose commits wait for the disk.  `--statements` prints what took longest.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg2.extensions
from celery import Celery
from sqlalchemy import Engine, create_engine, event, text

from app import embedded
from app.adapters.publishing import publisher
from app.migrate import migrate
from app.services.cells.move_account import move
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork

#: A file list for each tenth job, and the account's jobs in 20 repositories, of the last 200 days.
_FILL = """
    INSERT INTO users (id, email, created_at) VALUES (:user, :user || '@example.org', now() - interval '1 year');
    INSERT INTO user_subscriptions (user_id, tier, anchor_at) VALUES (:user, 'pro_plus', now() - interval '1 year');
    CREATE TEMP TABLE jobs AS
        SELECT gen_random_uuid() AS id, n, now() - (:rows - n + 1) * interval '200 d' / :rows AS at,
               encode(sha256(concat(:user, n)::bytea), 'hex') AS commit
          FROM generate_series(1, :rows) AS n;
    CREATE TEMP TABLE places AS SELECT gen_random_uuid() AS id, n FROM generate_series(0, 19) AS n;
    INSERT INTO codebases (id, host, owner, name, created_at)
        SELECT id, 'github.com', left(:user, 8), 'shop' || n, now() FROM places;
    INSERT INTO analyses (id, codebase_id, commit_sha, status, parser_version, attempt, started_at, completed_at,
                          total_tests, summary)
        SELECT j.id, p.id, left(commit, 40), 'completed', '1', 1, at, at + interval '5 s', 4,
               '{"tests": 4, "files": 2, "suites": 0, "by_status": {"active": 4}, "by_framework": {"pytest": 4}}'
          FROM jobs j JOIN places p ON p.n = j.n % 20;
    WITH tests AS (
        INSERT INTO file_inventories (blob_id, parser_version, digest, framework, tests, total_tests)
        SELECT commit, '1', sha256(commit::bytea), 'pytest',
               jsonb_build_array(jsonb_build_object('name', commit), '{"name": "b"}'::jsonb), 2
          FROM jobs WHERE n % 10 = 0 OR n = 1 RETURNING id, digest),
    lists AS (INSERT INTO file_lists (digest, size) SELECT digest, 2 FROM tests RETURNING id, digest),
    entries AS (
        INSERT INTO file_list_entries (file_list_id, position, path, file_inventory_id)
        SELECT l.id, k, 'tests/test_' || k || '.py', t.id
          FROM lists l JOIN tests t USING (digest), generate_series(1, 2) AS k)
    INSERT INTO analysis_file_lists (analysis_id, last_ordinal, first_ordinal, file_list_id)
    SELECT j.id, 2, 1, l.id FROM jobs j JOIN jobs o ON o.n = greatest(1, j.n - j.n % 10)
      JOIN lists l ON l.digest = sha256(o.commit::bytea);
    INSERT INTO analysis_requests (job_id, user_id, role, codebase_id, commit_sha, trigger, queue, tier, requested_at,
                                   retention_days)
        SELECT j.id, :user, 'payer', p.id, left(commit, 40), 'user', 'analysis_priority', 'pro_plus', at, 365
          FROM jobs j JOIN places p ON p.n = j.n % 20 ORDER BY j.n;
    INSERT INTO usage_events (user_id, event_type, quota_amount, job_id, resource_id, accepted_at, created_at)
        SELECT :user, 'analysis', 1, id, id, at, at FROM jobs ORDER BY n;
    INSERT INTO job_events (job_id, at, event, facts)
        SELECT id, at + k * interval '1 s', (ARRAY['accepted', 'started', 'completed'])[k],
               CASE k WHEN 1 THEN jsonb_build_object('quota', jsonb_build_object('units', 1, 'used', 0, 'reserved', 0,
                        'limit', NULL, 'mode', 'enforce', 'at', at), 'queue', 'analysis_priority', 'tier', 'pro_plus')
                      ELSE '{"attempt": 1}' END
          FROM jobs, generate_series(1, 3) AS k ORDER BY n, k;
    INSERT INTO api_tokens (id, user_id, token_hash, prefix, scopes, created_at)
        SELECT gen_random_uuid(), :user, sha256(concat(:user, n)::bytea), 'fl_x', '{read}', now()
          FROM generate_series(1, 20) AS n;
    DROP TABLE jobs, places"""


@dataclass
class Watch:
    """What the sessions of both cells send.  times: (seconds, statement) of the pause; pids: of the sessions."""

    times: list[tuple[float, str]] = field(default_factory=list)
    pids: list[int] = field(default_factory=list)
    is_paused: bool = False
    spent: float = 0.0

    def processor(self) -> float:
        """Seconds of a processor that this process and the sessions have used."""
        spent = time.process_time()
        for pid in self.pids:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            spent += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return spent

    def begin(self, statement: str) -> None:
        """The lock on the account is the first statement of the pause."""
        if "FROM users WHERE id" in statement and "FOR UPDATE" in statement:
            self.times.clear()
            self.is_paused, self.spent = True, self.processor()

    def end(self, statement: str, seconds: float) -> None:
        """Its last one ends the prepared transaction."""
        if self.is_paused:
            self.times.append((seconds, " ".join(statement.split())[:110]))
        if statement.startswith("COMMIT PREPARED"):
            self.is_paused, self.spent = False, self.processor() - self.spent


def main() -> None:
    """Move accounts, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, nargs="+", default=[100, 1_000, 10_000])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--statements", action="store_true")
    asked = parser.parse_args()
    with ExitStack() as stack:
        watch = Watch()
        cells = [stack.enter_context(_cell(watch)) for _ in range(2)]
        print(f"{'history':>8} | whole move, s | pause, s | of it processor, s | load of the machine")
        for rows in asked.histories:
            for _ in range(asked.turns):
                _move(cells, rows, watch, statements=asked.statements)


def _move(cells: list[UnitOfWork], rows: int, watch: Watch, *, statements: bool) -> None:
    user = uuid4()
    _fill(cells[0].engine, user, rows)
    began = time.monotonic()
    moved = move(*cells, user, epoch=1)
    whole, load = time.monotonic() - began, os.getloadavg()[0]
    print(f"{rows:>8,} | {whole:>13.2f} | {moved.pause_seconds:>8.3f} | {watch.spent:>18.2f} | {load:.1f}", flush=True)
    if statements:
        for seconds, statement in sorted(watch.times, reverse=True)[:12]:
            print(f"    {1000 * seconds:7.1f} ms  {statement}")


def _fill(engine: Engine, user: UUID, rows: int) -> None:
    with engine.begin() as connection:
        given = {"user": str(user), "rows": rows}
        for statement in _FILL.split(";\n"):
            connection.execute(text(statement), {name: of for name, of in given.items() if f":{name}" in statement})
        connection.execute(text("COMMIT; ANALYZE"))


@contextmanager
def _cell(watch: Watch) -> Iterator[UnitOfWork]:
    with tempfile.TemporaryDirectory(prefix="fairlane-bench-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        with embedded.hold(Path(folder) / "home") as server:
            owner = create_engine(server.owner_url)
            migrate(owner)
            owner.dispose()
            engine = make_engine(server.owner_url, pool_size=1)

            class Cursor(psycopg2.extensions.cursor):
                def execute(self, query: Any, vars: Any = None) -> None:  # noqa: A002 - psycopg2's name
                    shown = query.decode() if isinstance(query, bytes) else str(query)
                    watch.begin(shown)
                    began = time.monotonic()
                    super().execute(query, vars)
                    watch.end(shown, time.monotonic() - began)

            @event.listens_for(engine, "do_connect")
            def timing(_dialect: Any, _record: Any, _arguments: Any, options: dict[str, Any]) -> None:
                options.update(cursor_factory=Cursor)

            with engine.connect() as connection:
                watch.pids.append(connection.execute(text("SELECT pg_backend_pid()")).scalar_one())
            yield UnitOfWork(engine, publisher(Celery("bench", set_as_current=False, broker="memory://")))


if __name__ == "__main__":
    main()
