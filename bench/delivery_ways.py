"""Ways of a delivery beside an earlier revision: `python -m bench.delivery_ways HOME REVISION [--rows N]`.

REVISION, of before the functions whose plans are kept, works on one table, as of before migration 0065; this tree on a
copy with the parts that the migration makes, and on one with those of later: a month that is over, this one, two to
come, and the default part.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from app import embedded
from bench.deliveries import make
from bench.inventory.small import ROOT, checked_out
from bench.maintenance.filled import run
from bench.takers import Taker, compared, copied, tell

CODE = """
from datetime import timedelta
from time import perf_counter
from sqlalchemy import text
from app.store.webhooks import webhook_deliveries, webhook_turns
from bench.deliveries import Client

def prepare(server, given):
    pass

def ways(uow, given):
    client, job = Client(uow), []
    def read(statement):
        with uow.begin() as tx:
            return statement(tx)
    hooks = list(read(lambda tx: tx.run(text("SELECT id FROM webhooks ORDER BY id LIMIT 1000")).scalars()))
    since = uow.now() - timedelta(days=30)
    found = {
        "accept": lambda turn: job.append(client.accept()),
        "start and finish, which tells a webhook": lambda turn: client.web.completed(job.pop()),
        "look for what is due": lambda turn: read(lambda tx: webhook_deliveries.due(tx, 10)),
        "claim a turn": lambda turn: read(lambda tx: webhook_turns.claim(tx, 1, seconds=0)),
        "deliver one": lambda turn: client.deliver(),
        "count what waits": lambda turn: read(lambda tx: webhook_deliveries.waiting(tx, most=100_000)),
        "a page of the log": lambda turn: read(
            lambda tx: webhook_deliveries.log(tx, hooks[turn % 1000], since=since, before=None, most=26)),
    }
    def timed(way):
        def take(turn):
            began = perf_counter()
            way(turn)
            return 1000 * (perf_counter() - began)
        return take
    return {name: timed(way) for name, way in found.items()}
"""
#: The parts of later: those of the migration are gone, and their rows are in those of their months.
LATER = (
    "ALTER TABLE webhook_deliveries DETACH PARTITION webhook_deliveries_before",
    """DO $$ DECLARE ahead regclass; BEGIN
        FOR ahead IN SELECT part FROM partition_bounds('webhook_deliveries') WHERE begins IS NOT NULL LOOP
            EXECUTE format('DROP TABLE %s', ahead);
        END LOOP;
    END $$""",
    "SELECT webhook_deliveries_months('webhook_deliveries', now() - interval '30 days', '-infinity')",
    "SELECT webhook_deliveries_months('webhook_deliveries', now(), '-infinity')",
    "INSERT INTO webhook_deliveries OVERRIDING SYSTEM VALUE SELECT * FROM webhook_deliveries_before ORDER BY id",
    "DROP TABLE webhook_deliveries_before",
    "VACUUM ANALYZE",
)


def main() -> None:
    """Make the databases that are not there, and compare."""
    parser = argparse.ArgumentParser(prog="python -m bench.delivery_ways", description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("revision")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--turns", type=int, default=60)
    asked = parser.parse_args()
    names = {where: f"{where}_{asked.rows}" for where in ("one", "migrated", "later")}
    with tempfile.TemporaryDirectory() as folder, embedded.hold(asked.home, durable=False) as server:
        earlier = checked_out(asked.revision, Path(folder, "before"))
        if not run(server.admin_url, f"SELECT 1 FROM pg_database WHERE datname = '{names['one']}'"):
            make(server, names["one"], asked.rows)
        copied(server, names["one"], names["migrated"])
        if copied(server, names["one"], names["later"]):
            run(server.owner_url, *LATER, database=names["later"])
        with (
            Taker(earlier, server, names["one"], CODE) as before,
            Taker(ROOT, server, names["migrated"], CODE) as migrated,
            Taker(ROOT, server, names["later"], CODE) as later,
        ):
            found = compared([before, migrated, later], asked.turns, together=True)
        tell(f"{asked.rows:,} deliveries", ["one table", "migrated", "later"], found)


if __name__ == "__main__":
    main()
