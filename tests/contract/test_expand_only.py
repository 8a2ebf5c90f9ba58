"""Migrations only add what earlier releases do not notice, until one contracts and says so (docs/adr/0044)."""

from typing import Any

import pytest
from packaging.version import Version
from sqlalchemy import Connection, Engine, text

from tests.conftest import raw_connection
from tests.contract.migrating import migrated_to
from tests.releases import LAST, RELEASES
from tests.tiers import few

#: What a migration changed on purpose since the oldest release that the schema serves, and why no such release notices.
#: A function that one of them calls and that takes or returns something else gets another name, such as `…_v2`.
HARMLESS: dict[str, str] = {
    **{
        f"function {name} is gone": "only releases before 0031 call it"
        for name in (
            "rate_take(text,double precision)",
            "rate_spend(text,double precision,double precision)",
            "caller_look(bytea,timestamp with time zone,double precision)",
            "carry_job(text,text,text,integer,integer,double precision,text)",
        )
    },
    "function rate_charge(text,double precision,double precision,double precision): body changed": (
        "the same answer, also when the clock goes back"
    ),
    "function audit_log_forget(): body changed": (
        "a deleted account whose address was never verified takes nothing out of older entries"
    ),
    "function accept_look(uuid,text,text,text,text,text,text,text,timestamp with time zone): body changed": (
        "the same answer, from sums of the bills"
    ),
    **{
        f"function caller_find(bytea,timestamp with time zone,double precision): {what} changed": (
            "two columns more, and the release before reads columns by their names"
        )
        for what in ("signature", "body")
    },
    "function kombu_message_park(text,text,double precision,text): body changed": (
        "what is to be cancelled stays ready, and a worker of either release ends it"
    ),
    "function kombu_message_poll(text[],bigint,boolean,timestamp with time zone,integer): body changed": (
        "the same answer; nodes are judged by one of them for all, in two looks"
    ),
    **{
        f"function {name}: body changed": "the same, also when a task has messages on two queues"
        for name in (
            "broker_forget(text)",
            "broker_move(text,text,text)",
            "broker_regroup(text,text,text,integer,integer,double precision)",
            "broker_request_cancel(text)",
            "kombu_message_parks(integer,text,integer,integer,double precision)",
            "kombu_message_publish(text,text,text,text,text,double precision,integer,text,integer)",
            "kombu_message_retry(text,uuid,text,text,double precision,boolean,boolean,double precision,text)",
            "kombu_message_wake(integer,text,integer,integer)",
        )
    },
    # version 8 of the broker's tables: docs/adr/0075
    **{
        f"table {name}: kind changed": "a view with the same columns, and triggers that write what is written there"
        for name in ("kombu_message", "kombu_queue")
    },
    **{
        f"function {name} is gone": "only the broker's functions that count called it"
        for name in (
            "kombu_message_count(integer,text,text,bigint,integer)",
            "kombu_message_estimate(integer,text,text)",
            "kombu_message_leases(integer,integer)",
            "kombu_message_numbers(integer,text,integer)",
            "kombu_message_summary(integer,text,integer)",
            "kombu_message_top(integer,text[],bigint[],integer)",
        )
    },
    **{
        f"function {name}: body changed": "the same answer, from a table for each state of a message"
        for name in (
            "broker_group_facts(text,text,integer)",
            "broker_is_node_idle(integer)",
            "broker_next_rank(integer,text,integer)",
            "broker_park(text,text,double precision,text)",
            "broker_pause(text,timestamp with time zone)",
            "broker_redrive(bigint[])",
            "broker_resume(text)",
            "broker_wake(text,text,integer,integer)",
            "job_line(text,integer,uuid,text,text)",
            "job_turns(text,text,text,integer,integer,integer)",
            "queue_parked_since(integer,integer)",
            "wake_user(text,text,integer,integer)",
        )
    },
    **{
        f"function {name}: body changed": "calls the one that has its text now"
        for name in (
            "kombu_message_claim(text,integer,bigint,double precision,bigint,integer)",
            "kombu_message_facts()",
            "kombu_message_give_back(bigint[],uuid[],text)",
            "kombu_message_groups(text,text,integer)",
            "kombu_message_lease(integer,integer,bigint,double precision,bigint)",
            "kombu_message_place(integer,bigint,text,integer)",
            "kombu_message_probe(integer,timestamp with time zone,integer)",
            "kombu_message_promote(integer,timestamp with time zone,timestamp with time zone,boolean,integer)",
            "kombu_message_rank(integer,text,integer)",
            "kombu_message_redrive(bigint[])",
            "kombu_message_rescue(bigint,timestamp with time zone,integer)",
            "kombu_message_settle(bigint[],uuid[],bigint[],uuid[],text[],boolean)",
            "kombu_message_sooner(double precision)",
            "kombu_message_take_in(integer,integer)",
            "kombu_message_wanted(integer)",
        )
    },
    # version 9 of the broker's tables
    **{
        f"function {name}: body changed": "the same, and rows that are locked are found again by their place"
        for name in (
            "broker_move(text,text,text)",
            "durable_admit(integer,bigint,text,bigint,smallint,text[])",
            "durable_claim_limited(integer,text,integer,bigint,double precision,bigint,integer)",
            "durable_line_fill(integer,integer,text,bigint)",
            "durable_line_woken(durable_line,boolean)",
            "durable_park(text,text,double precision,text)",
            "durable_promote(integer,timestamp with time zone,timestamp with time zone,boolean,integer)",
            "durable_take(integer,integer,bigint,double precision,bigint)",
        )
    },
    # docs/adr/0097: releases before move no account
    "rule analyses_one_result is new or another one": "as analyses_one_completed, but for results that moved here",
    "function webhooks_tell(): body changed": "the same deliveries, and those beyond the bound as failed",
    # in a part for each month: docs/adr/0094
    "table webhook_deliveries: kind changed": "a table in parts, which takes the same statements",
    **{
        f"rule webhook_deliveries.{name} is new or another one": "with the time of what happened, which has only one"
        for name in ("webhook_deliveries_once", "webhook_deliveries_pkey")
    },
    **{
        f"rule {name} is new or another one": "the index of that rule"
        for name in ("webhook_deliveries_once", "webhook_deliveries_pkey")
    },
}

_TABLES = """
    SELECT relname, relkind::text AS kind FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'S')"""
_COLUMNS = """
    SELECT concat(c.relname, '.', a.attname) AS name, c.relname AS relation,
           format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull AS required,
           a.atthasdef OR a.attidentity <> '' AS fills_itself
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v')"""
_FUNCTIONS = r"""
    SELECT oid::regprocedure::text AS name,
           concat(pg_get_function_arguments(oid), ' -> ', pg_get_function_result(oid)) AS signature,
           regexp_replace(prosrc, '--[^\n]*|\s+', '', 'g') AS body
      FROM pg_proc WHERE pronamespace = 'public'::regnamespace"""
_RULES = """
    SELECT concat(conrelid::regclass, '.', conname) AS name, conrelid::regclass::text AS relation,
           pg_get_constraintdef(oid) AS rule,
           ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = conrelid AND attnum = ANY (conkey)) AS columns
      FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND conrelid <> 0 AND contype <> 'n'
    UNION ALL
    SELECT indexname, tablename, indexdef, ARRAY['any'] FROM pg_indexes WHERE schemaname = 'public' AND indexdef LIKE 'CREATE UNIQUE%'"""
_LABELS = "SELECT concat(typname, ' ', enumlabel) AS name FROM pg_type JOIN pg_enum ON enumtypid = pg_type.oid"

Catalog = dict[str, dict[str, Any]]


def catalog(connection: Connection, query: str) -> Catalog:
    rows = connection.execute(text(query)).mappings()
    return {str(row.get("name") or row["relname"]): dict(row) for row in rows}


def catalogs(connection: Connection) -> dict[str, Catalog]:
    queries = {"table": _TABLES, "column": _COLUMNS, "function": _FUNCTIONS, "rule": _RULES, "label": _LABELS}
    return {kind: catalog(connection, query) for kind, query in queries.items()}


def contracted(before: dict[str, Catalog], after: dict[str, Catalog]) -> set[str]:
    """What somebody who knows only `before` would trip over in `after`."""
    gone = {f"{kind} {name} is gone" for kind in before if kind != "rule" for name in before[kind].keys() - after[kind]}
    old_tables = before["table"].keys()
    for name, column in after["column"].items():
        old = before["column"].get(name)
        if old and old["type"] != column["type"]:
            gone.add(f"column {name} has another type")
        if old and column["required"] and not old["required"]:
            gone.add(f"column {name} is required now")
        if not old and column["relation"] in old_tables and column["required"] and not column["fills_itself"]:
            gone.add(f"column {name} is required, and the previous release does not fill it")
    for kind, aspects in (("function", ("signature", "body")), ("table", ("kind",))):
        for name in before[kind].keys() & after[kind]:
            gone |= {
                f"{kind} {name}: {one} changed" for one in aspects if before[kind][name][one] != after[kind][name][one]
            }
    for name, rule in after["rule"].items():
        old = before["rule"].get(name)
        # the release before leaves columns that it does not know without a value
        known = [one for one in rule["columns"] if f"{rule['relation']}.{one}" in before["column"] or one == "any"]
        if rule["relation"] in old_tables and known and (old is None or old["rule"] != rule["rule"]):
            gone.add(f"rule {name} is new or another one")
    return gone


def catalogs_at(engine: Engine, revision: str) -> dict[str, Catalog]:
    migrated_to(engine, revision)
    with engine.connect() as connection:
        return catalogs(connection)


def test_nothing_that_a_served_release_uses_is_gone_or_works_otherwise(engine: Engine) -> None:
    before = {release.version: catalogs_at(engine, release.revision) for release in RELEASES}
    now = catalogs_at(engine, "head")
    with engine.connect() as connection:
        oldest = connection.execute(text("SELECT oldest_version FROM schema_support")).scalar_one()
    noticed = {version: contracted(before[version], now) for version in before if Version(version) >= Version(oldest)}
    assert {version: found - HARMLESS.keys() for version, found in noticed.items()} == {
        version: set() for version in noticed
    }
    assert HARMLESS.keys() - set().union(*noticed.values()) == set()


def test_the_schema_serves_the_last_three_releases_by_revision_and_by_version(migrated_url: str) -> None:
    with raw_connection(migrated_url) as connection:
        revision, version = connection.execute(text("SELECT oldest, oldest_version FROM schema_support")).one()
    by_revision = {release.version for release in RELEASES if release.revision >= revision}  # as releases before 0.4.0
    assert by_revision == {release.version for release in RELEASES if Version(release.version) >= Version(version)}
    assert by_revision >= {release.version for release in LAST}


@pytest.mark.parametrize(
    ("change", "told"),
    few(
        4,
        [
            ("DROP FUNCTION caller_find", "is gone"),
            ("DROP VIEW analysis_files", "table analysis_files is gone"),
            ("DROP TABLE schedule_runs", "table schedule_runs is gone"),
            ("ALTER TABLE users DROP COLUMN slot_limit", "column users.slot_limit is gone"),
            ("ALTER TABLE users RENAME COLUMN kind TO sort", "column users.kind is gone"),
            ("ALTER TABLE users ADD COLUMN name text NOT NULL", "the previous release does not fill it"),
            (
                "ALTER TABLE codebases ALTER COLUMN checked_at SET NOT NULL",
                "column codebases.checked_at is required now",
            ),
            ("ALTER TABLE users ALTER COLUMN slot_limit TYPE bigint", "column users.slot_limit has another type"),
            ("ALTER TABLE users ADD CHECK (email LIKE '%@%')", "rule users.users_email_check is new"),
            ("CREATE UNIQUE INDEX one_name ON codebases (name)", "rule one_name is new"),
            (
                "DROP VIEW analysis_files; CREATE TABLE analysis_files (analysis_id uuid, ordinal integer)",
                "table analysis_files: kind changed",
            ),
            (
                """CREATE OR REPLACE FUNCTION wake_user(who text, service text, most integer, step integer)
               RETURNS SETOF uuid LANGUAGE sql AS 'SELECT NULL::uuid'""",
                "body changed",
            ),
        ],
    ),
)
def test_each_way_to_take_something_away_is_found(migrated_url: str, change: str, told: str) -> None:
    with raw_connection(migrated_url) as connection:
        before = catalogs(connection)
        connection.execute(text(change))
        after = catalogs(connection)
        connection.rollback()
    assert any(told in found for found in contracted(before, after))
