"""The audit finds every secret in force, wherever the database keeps it and however it is spelt."""

from __future__ import annotations

import json
from base64 import b64encode
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.canaries import Canaries, tokens
from app.domain.plans import Tier
from app.services.accounts.tokens import add_token
from app.services.operations.audit import BROKEN, HOLDS, UNKNOWN, audit
from app.services.operations.find_leaks import find_leaks
from tests.conftest import World
from tests.tiers import few

SECRET = "hush@:/%#?&=+ 'ü€\"\\"
CANARIES = {"DATABASE_URL": SECRET, "SECRET_KEY": "the-key-of-this-test"}
MINUTE = timedelta(minutes=1)


def found(world: World, place: str) -> set[str]:
    told = find_leaks(world.uow, CANARIES, within=MINUTE)
    assert SECRET not in repr(told)
    return {one.secret for one in told if place in one.place}


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=8, max_size=40), st.binary(max_size=9))
def test_a_secret_is_found_in_any_spelling_whatever_is_around_it(secret: str, before: bytes) -> None:
    wanted = Canaries.of({"A": secret})
    for spelt in (secret, quote(secret, safe=""), json.dumps(secret), secret.encode().hex()):
        assert wanted.found(f"xx{spelt}yy")
    assert wanted.found(b64encode(before + secret.encode() + before).decode())
    assert wanted.found(b64encode(before + quote(secret, safe="").encode() + before).decode())


@pytest.mark.parametrize(
    "spelt",
    [
        SECRET, f"postgresql://app:{quote(SECRET, safe='')}@127.0.0.1/x", json.dumps({"url": SECRET}),
        b64encode(f"postgresql://app:{SECRET}@127.0.0.1/x".encode()).decode(), SECRET.encode().hex(),
        b64encode(json.dumps([[], {}, {"url": f"app:{quote(SECRET)}@"}]).encode()).decode(),
    ],
    ids=["plain", "URL", "JSON", "Base64", "hexadecimal", "URL in JSON in Base64"],
)  # fmt: skip
def test_a_secret_in_a_row_of_broadcast_is_found_however_it_is_spelt(world: World, spelt: str) -> None:
    insert = """
        INSERT INTO kombu_broadcast (exchange, routing_key, payload, expires_at)
        VALUES ('celeryev', '', :payload, now() + interval '1 min') RETURNING id"""
    world.rows(insert, payload=spelt)
    assert found(world, "kombu_broadcast") == {"DATABASE_URL"}


@pytest.mark.parametrize(
    ("table", "leak"),
    few(2, [
        ("audit_log", "INSERT INTO audit_log (actor, action, subject, facts) VALUES ('x', 'y', 'z', to_jsonb(CAST(:s AS text))) RETURNING id"),
        ("users", "UPDATE users SET email = :s || '@x' RETURNING id"),
        ("api_tokens", "UPDATE api_tokens SET token_hash = convert_to(:s, 'UTF8') RETURNING id"),
        ("durable_message", "UPDATE kombu_message SET payload = CAST(to_jsonb(CAST(:s AS text)) AS text) RETURNING id"),
        ("job_events", "UPDATE job_events SET facts = jsonb_build_object('a', CAST(:s AS text)) RETURNING id"),
    ]),
)  # fmt: skip
def test_a_secret_is_found_in_any_column_of_any_table(world: World, table: str, leak: str) -> None:
    user = world.user(Tier.FREE)
    add_token(world.uow, user, scopes=["read"], name="x", now=world.now)
    world.submit(user)
    assert find_leaks(world.uow, CANARIES, within=MINUTE) == []
    world.rows(leak, s=CANARIES["SECRET_KEY"])
    assert found(world, table) == {"SECRET_KEY"}


def test_a_secret_in_the_source_of_a_function_or_a_comment_is_found(world: World) -> None:
    world.rows("CREATE FUNCTION leaky() RETURNS text RETURN 'x'; SELECT 1 AS one")
    world.rows(
        "CREATE FUNCTION leakier() RETURNS text AS $$ SELECT 'the-key-of-this-test' $$ LANGUAGE sql; SELECT 1 AS one"
    )
    world.rows("COMMENT ON TABLE users IS 'the-key-of-this-test'; SELECT 1 AS one")
    assert found(world, "function leakier") == {"SECRET_KEY"}
    assert found(world, "comment") == {"SECRET_KEY"}
    assert found(world, "leaky") == set()


def test_a_token_is_found_and_what_only_looks_like_one_is_not(world: World) -> None:
    made = add_token(world.uow, world.user(), scopes=["read"], name="x", now=world.now)
    world.submit(world.user())
    world.rows("UPDATE kombu_message SET payload = payload || :t RETURNING id", t=f"fl_{'x' * 43}")
    assert find_leaks(world.uow, {}, within=MINUTE) == []
    body = b64encode(json.dumps({"kwargs": {"token": made.secret}}).encode()).decode()
    assert tokens(f'{{"body": "{body}"}}') == {made.secret}
    world.rows("UPDATE kombu_message SET payload = :p RETURNING id", p=json.dumps({"body": body}))
    assert [(leak.secret, leak.place) for leak in find_leaks(world.uow, {}, within=MINUTE)] == [
        ("API token", "public.durable_message")
    ]


def test_the_audit_counts_leaks_under_secrets_and_says_when_it_had_no_time(world: World) -> None:
    world.user(email="the-key-of-this-test@example.org")
    [secrets] = [one for one in audit(world.uow, canaries=CANARIES) if one.number == "I12"]
    assert (secrets.status, secrets.broken) == (BROKEN, 1)
    assert secrets.rows[0]["place"] == "public.users"
    [secrets] = [one for one in audit(world.uow) if one.number == "I12"]
    assert secrets.status == HOLDS
    [secrets] = [one for one in audit(world.uow, canaries=CANARIES, within=timedelta(0)) if one.number == "I12"]
    assert secrets.status == UNKNOWN


def test_the_command_knows_the_secrets_that_its_service_uses(
    world: World, fairlane: Any, monkeypatch: pytest.MonkeyPatch, database_url: str
) -> None:
    monkeypatch.setenv("SECRET_KEY", CANARIES["SECRET_KEY"])
    assert fairlane("audit").exit_code == 0
    world.user(email=f"{CANARIES['SECRET_KEY']}@example.org")
    broken = fairlane("audit")
    assert broken.exit_code == 1
    assert "secret=SECRET_KEY place=public.users" in broken.stdout
    assert CANARIES["SECRET_KEY"] not in broken.output
