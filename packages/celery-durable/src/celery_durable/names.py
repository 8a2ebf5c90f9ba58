"""The values for the braces in the texts of statements: the schema of the tables, and numbers."""

import re

from .options import Options

#: Rows promoted or handed back by one statement; the rest follows at once in the next.
BATCH = 500
#: Messages of a group parked by one statement: half a second.
MOST_PARKED = 10_000
#: Messages that one claim puts in the lines of limits one by one: others wait for who is woken by the next claim.
MOST_DENIED = 20
#: Messages that one claim passes over, as somebody else has their line: behind them are others.
MOST_PASSED = 1000
#: How long a group that was parked by a publish is left alone.
PROBE_SECONDS = 30.0
#: A message of a serializable publisher is announced as due in so many seconds: the next poll ranks all of them.
RANK_SOON = 0.01
#: Of the functions: see sql/publish.sql.
SETTINGS = "SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off"
#: Of those that look messages up by their ids: a plan from when the tables were empty must read no table for a join.
BY_KEY = f"{SETTINGS} SET enable_hashjoin = off SET enable_mergejoin = off"
#: Of those on the hot path that are given how many messages there are: the planner takes a batch of one for so much
#: cheaper than any other that it would plan each call anew, which was two fifths of a claim and its settlement.
ONE_PLAN = "SET plan_cache_mode = force_generic_plan"
#: Of those in a schema that is named: their bodies name tables and functions without it.  A temporary table of the
#: caller's would come first if pg_temp were not named.
IN_SCHEMA = " SET search_path = {schema}, pg_temp"
#: Of those that run with the rights of the tables' owner: in their path are our schema and, at its end, the caller's
#: temporary tables, which would come first otherwise.  CURRENT is what `schema.upgrade` sets.
AS_OWNER = " SET search_path = {schema}, pg_temp"
AS_OWNER_IN_CURRENT = " SET search_path FROM CURRENT"
#: Braces around anything else are SQL's.
_NAME = re.compile(
    r"\{(schema|channel|batch|most_parked|most_denied|most_passed|probe|rank_soon|settings|one_plan|by_key|definer)\}"
)


def fill(statement: str, options: Options) -> str:
    """Complete a statement of this package."""
    in_schema = IN_SCHEMA.format(schema=options.schema) if options.schema else ""
    values = {
        "schema": f"{options.schema}." if options.schema else "",
        "channel": options.channel,
        "batch": BATCH,
        "most_parked": MOST_PARKED,
        "most_denied": MOST_DENIED,
        "most_passed": MOST_PASSED,
        "probe": PROBE_SECONDS,
        "rank_soon": RANK_SOON,
        "definer": f"SECURITY DEFINER {SETTINGS}"
        + (AS_OWNER.format(schema=options.schema) if options.schema else AS_OWNER_IN_CURRENT),
        "settings": SETTINGS + in_schema,
        "one_plan": ONE_PLAN,
        "by_key": BY_KEY + in_schema,
    }
    return _NAME.sub(lambda found: str(values[found[1]]), statement)
