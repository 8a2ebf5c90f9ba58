"""`/readyz` is 200 on a database that takes no writes, so reads have to answer there."""

from __future__ import annotations

import pytest
from service_harness.application import Web
from sqlalchemy import text

from tests.tiers import few
from tests.web.test_readiness import Refuse, refuse  # noqa: F401 - a fixture

#: Each read would note its use again.
AGED = (
    "UPDATE codebases SET last_viewed_at = now() - interval '1 hour'",
    "UPDATE api_tokens SET last_used_at = now() - interval '2 hours'",
    "UPDATE sessions SET last_used_at = now() - interval '2 hours'",
)
REPOSITORY = "/repositories/github.com/acme/shop"
PATHS = (
    "/", REPOSITORY, f"/api/v1{REPOSITORY}", f"/api/v1{REPOSITORY}/badge.svg", "/analyses/{job}",
    "/api/v1/analyses/{job}", "/api/v1/analyses/{job}/tests", "/history", "/api/v1/me/history", "/api/v1/usage",
)  # fmt: skip
#: Any table that a note is written to refuses it, as a full disk would.
FULL = """
    CREATE FUNCTION refuse_note() RETURNS trigger LANGUAGE plpgsql AS
    $$BEGIN RAISE EXCEPTION 'no space left on device' USING errcode = 'disk_full'; END$$;
    CREATE TRIGGER refuse_note BEFORE UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION refuse_note()"""


@pytest.mark.parametrize("path", few(2, PATHS))
@pytest.mark.parametrize("who", ["visitor", "token", "session"])
def test_a_read_is_answered_by_a_database_that_is_read_only(web: Web, refuse: Refuse, path: str, who: str) -> None:  # noqa: F811
    user = web.user()
    headers = web.token(user.user_id)
    job = web.submit("shop", headers).json["id"]
    web.completed(job)
    web.sign_in(user)
    client = web.client if who == "session" else web.app.test_client()
    given = {"headers": headers} if who == "token" else {}
    expected = client.get(path.format(job=job), **given).status_code
    with web.uow.begin() as tx:
        for statement in AGED:
            tx.run(text(statement))
    refuse("SET default_transaction_read_only = on")
    assert client.get("/readyz").status_code == 200
    assert client.get(path.format(job=job), **given).status_code == expected


@pytest.mark.parametrize(
    ("table", "note"),
    [
        ("codebases", "SELECT note_view((SELECT id FROM codebases), clock_timestamp(), '1 minute')"),
        ("api_tokens", "SELECT note_token((SELECT token_hash FROM api_tokens), clock_timestamp())"),
        ("sessions", "SELECT note_session((SELECT id_hash FROM sessions), clock_timestamp())"),
    ],
)
def test_a_note_that_finds_no_room_is_lost_and_nothing_else(web: Web, table: str, note: str) -> None:
    user = web.user()
    web.submit("shop", web.token(user.user_id))
    web.sign_in(user)
    with web.uow.begin() as tx:
        for statement in AGED:
            tx.run(text(statement))
        tx.run(text(FULL.format(table=table)))
        tx.run(text(note))
        assert tx.run(text("SELECT 1")).scalar_one() == 1
        tx.run(text(f"DROP TRIGGER refuse_note ON {table}; DROP FUNCTION refuse_note"))
