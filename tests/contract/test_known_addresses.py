"""Migration 0039: the addresses of accounts that an operator made count as verified, those of sign-ups do not.

There are more people than one batch has.
"""

from __future__ import annotations

from sqlalchemy import Engine, text

from tests.contract.test_migrations import run

BEFORE, AFTER = "0037", "0038"
PEOPLE = """
    INSERT INTO users (id, kind, email, created_at)
    SELECT gen_random_uuid(), 'person', concat(made, n, '@example.org'), '2026-01-01Z'
      FROM unnest(ARRAY['operator', 'sign-up']) AS made, generate_series(1, 6000) AS n"""
MADE = """
    INSERT INTO audit_log (actor, action, subject)
    SELECT CASE WHEN email LIKE 'sign-up%' THEN 'sign-up' ELSE 'cli' END, 'user.add', CAST(id AS text) FROM users"""
VISITOR = "INSERT INTO users (id, kind, created_at) VALUES (gen_random_uuid(), 'anonymous', now())"
LATER = "UPDATE users SET email_verified_at = '2026-02-01Z' WHERE email IN ('operator7@example.org', 'sign-up7@example.org')"
FOUND = """
    SELECT kind, rtrim(split_part(coalesce(email, ''), '@', 1), '0123456789') AS made,
           CAST(email_verified_at AT TIME ZONE 'UTC' AS date)::text AS verified, count(*) AS people
      FROM users GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"""


def test_people_whom_an_operator_knows_are_verified_in_batches(engine: Engine) -> None:
    run(engine, "upgrade", BEFORE)
    with engine.begin() as connection:
        for statement in (PEOPLE, MADE, VISITOR, LATER, "ANALYZE users, audit_log"):  # as autovacuum would
            connection.execute(text(statement))
    run(engine, "upgrade", AFTER)
    with engine.connect() as connection:
        found = [tuple(row) for row in connection.execute(text(FOUND))]
    assert found == [
        ("anonymous", "", None, 1),
        ("person", "operator", "2026-01-01", 5999),
        ("person", "operator", "2026-02-01", 1),
        ("person", "sign-up", "2026-02-01", 1),
        ("person", "sign-up", None, 5999),
    ]
    run(engine, "downgrade", BEFORE)
    run(engine, "upgrade", AFTER)
