"""The copy of an account is sent while it is read: in bounded memory, in a lane, and charged by its size."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from service_harness.application import Web
from sqlalchemy import text

from app.domain.plans import Tier
from app.services.accounts import export
from app.store.accounts import exporting
from app.web.limits.read_costs import EXPORTS_OF_CLIENT, READS
from tests.tiers import few

COPY = "/account/export.json"
#: A document of `features` features, each with some 100 kB of behaviours.
DOCUMENT = """
    WITH repository AS (
        INSERT INTO codebases (id, host, owner, name, created_at)
        SELECT gen_random_uuid(), 'github.com', 'acme', 'large', now() RETURNING id),
    document AS (
        INSERT INTO spec_documents (id, user_id, codebase_id, commit_sha, analysis_id, language, mode, generator, version,
                                    status, attempt, started_at, completed_at, summary, units, draft)
        SELECT :id, :user_id, id, repeat('a', 40), gen_random_uuid(), 'en', 'initial', 'x', 1, 'completed', 1, now(),
               now(), jsonb_build_object('behaviours', CAST(:features AS integer) * 500), 0, :id FROM repository)
    SELECT 1"""
FEATURES = """
    INSERT INTO spec_features (document_id, draft, position, domain, feature, total, behaviours)
    SELECT :id, :id, n, 'Shop', 'Feature ' || n, 500, (
           SELECT jsonb_agg(jsonb_build_object('sentence', repeat(md5(n || ' ' || m), 5))) FROM generate_series(1, 500) m)
      FROM generate_series(1, CAST(:features AS integer)) n"""
USAGE = """
    INSERT INTO usage_events (user_id, event_type, quota_amount, job_id, resource_id, accepted_at, created_at)
    SELECT :user_id, 'analysis', 1, gen_random_uuid(), gen_random_uuid(), now(), now() FROM generate_series(1, 2500)"""


def run(web: Web, *statements: str, **given: Any) -> None:
    with web.uow.begin() as tx:
        for statement in statements:
            tx.run(text(statement), **given)


def owner(web: Web) -> UUID:
    """A person who has signed in, with several pages of bills."""
    account = web.user(Tier.PRO)
    web.sign_in(account)
    run(web, USAGE, user_id=account.user_id)
    return account.user_id


def test_a_copy_has_every_row_of_every_page_once_and_in_order(web: Web) -> None:
    user_id = owner(web)
    run(web, DOCUMENT, FEATURES, id=uuid4(), user_id=user_id, features=45)
    found = json.loads(web.client.get(COPY).text)
    assert tuple(found) == exporting.PARTS
    assert len({row["job_id"] for row in found["usage"]}) == len(found["usage"]) == 2500
    assert [row["feature"] for row in found["features"]] == [f"Feature {n}" for n in range(1, 46)]
    assert {row["specification"] for row in found["features"]} == {found["specifications"][0]["id"]}
    assert found["account"][0]["id"] == str(user_id)
    assert found["account"][0]["created_at"].endswith("+00:00")


@pytest.mark.parametrize("part", few(3, exporting.PARTS))
def test_each_part_continues_after_any_of_its_rows(web: Web, part: str) -> None:
    """Also of parts that have few rows here: the key is compared as the type that it has."""
    user_id = owner(web)
    of = exporting._PARTS[part]
    with web.uow.begin() as tx:
        first = exporting.page(tx, part, user_id, None)
        rows = tx.run(of.query, user_id=user_id, most=1, **{f"after_{n}": None for n in range(of.key)}).all()
        for row in rows:
            rest = exporting.page(tx, part, user_id, tuple(row[1:]))
            assert row.row not in rest.rows
            assert [row.row, *rest.rows][: len(first.rows)] == first.rows


@pytest.mark.proof
def test_a_large_copy_needs_no_more_memory_than_some_of_its_pages(web: Web) -> None:
    user_id = owner(web)
    run(web, DOCUMENT, FEATURES, id=uuid4(), user_id=user_id, features=400)
    with web.client.get(COPY, buffered=False) as answer:  # the first pieces, and what only the first request imports
        tracemalloc.start()
        try:
            length = sum(len(piece) for piece in answer.iter_encoded())
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert length > 32_000_000
    assert peak < length / 3


def test_one_person_reads_few_copies_at_once_and_others_read_theirs(web: Web) -> None:
    owner(web)
    unread = [web.client.get(COPY, buffered=False) for _ in range(EXPORTS_OF_CLIENT)]
    refused = web.client.get(COPY)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "2")
    for answer in unread:
        answer.close()
    assert web.client.get(COPY, buffered=True).status_code == 200
    assert not web.app.extensions[READS].exports._taken


def test_a_copy_is_charged_by_its_size(make_web: Callable[..., Web]) -> None:
    web = make_web(read_limit_per_minute=40)
    user_id = owner(web)
    run(web, DOCUMENT, id=uuid4(), user_id=user_id, features=60)
    assert export.size(web.uow, user_id) == 2500 + 60 * 500
    answers = [web.client.get(COPY, buffered=True) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 429]
    assert not web.app.extensions[READS].exports._taken


def test_a_reader_who_is_slow_holds_no_connection(web: Web) -> None:
    owner(web)
    with web.client.get(COPY, buffered=False), web.uow.begin() as tx:
        open_ = tx.run(
            text("""
                SELECT count(*) FROM pg_stat_activity
                 WHERE datname = current_database() AND pid <> pg_backend_pid() AND state LIKE 'idle in%'""")
        )
        assert open_.scalar_one() == 0


def test_a_page_of_features_reads_few_documents_however_many_there_are(web: Web) -> None:
    user_id, ids = owner(web), sorted(uuid4() for _ in range(30))
    small = FEATURES.replace("generate_series(1, 500) m", "generate_series(1, 1) m")
    for number, document in enumerate(ids):
        named = DOCUMENT.replace("'large'", f"'large {number}'")
        run(web, named, small, id=document, user_id=user_id, features=100)
    run(web, "ANALYZE spec_documents", "ANALYZE spec_features")
    part = exporting._PARTS["features"]
    after = {"after_0": str(ids[10]), "after_1": "50"}
    with web.uow.begin() as tx:
        explained = text(f"EXPLAIN (ANALYZE, FORMAT JSON) {part.query.text}")
        [[plan]] = tx.run(explained, user_id=user_id, most=part.most, **after).all()
    assert 20 <= _rows_of("spec_features", plan[0]["Plan"]) <= 300


def _rows_of(table: str, node: dict[str, Any]) -> int:
    """Rows that a plan read of a table, with those that a condition removed."""
    own = (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
    below = sum(_rows_of(table, one) for one in node.get("Plans", []))
    return below + (int(own) if node.get("Relation Name") == table else 0)
