"""What earlier releases made and what they can serve (docs/adr/0044); `test_releases_together.py` has their traffic.

Where the history is not there, as in a shallow clone or a tarball, the releases are left out by name.
"""

from __future__ import annotations

import re
import urllib.error
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from app.version import VERSION
from tests.conftest import World, raw_connection
from tests.contract.catalogs import schema_of
from tests.databases import KEPT, Databases
from tests.e2e.webs import Web
from tests.nodes import Nodes
from tests.releases import LAST, THIS, Release, unpacked

pytestmark = pytest.mark.proof


@pytest.mark.parametrize(
    "release",
    [*(pytest.param(one, marks=pytest.mark.release) for one in LAST[1:]), LAST[0]],
    ids=lambda release: release.version,
)
def test_a_database_that_an_earlier_release_made_becomes_as_a_new_one(
    release: Release, empty_url: str, databases: Databases, tmp_path: Path
) -> None:
    unpacked(release, tmp_path).fairlane(empty_url, tmp_path / "home", "migrate")
    THIS.fairlane(empty_url, tmp_path / "home", "migrate")
    with databases.copy() as new_url:
        for what in (schema_of, rows_of_migrations):
            with raw_connection(empty_url) as old, raw_connection(new_url) as new:
                assert what(old) == what(new)


def rows_of_migrations(connection: Connection) -> dict[str, list[str]]:
    """What stands in the tables that migrations fill, but for what is random, or of the moment."""
    found = {table: connection.execute(text(f"SELECT * FROM {table} ORDER BY 1")) for table in KEPT}
    return {
        table: [re.sub(r"UUID\('[^']+'\)", "UUID", str(row)) for row in rows]
        for table, rows in found.items()
        if table != "event_totals_position"
    }


@pytest.mark.release
def test_a_schema_that_was_migrated_on_is_ready_and_one_that_contracted_is_not(world: World, nodes: Nodes) -> None:
    THIS.fairlane(nodes.database_url, nodes.folder / "home", "migrate")
    web = Web(nodes, nodes.folder, "")
    world.rows("UPDATE alembic_version SET version_num = '9998' RETURNING 1")
    assert web.ask("/readyz")["checks"]["migrations"] == "ok"
    running = nodes.worker()
    assert running.container.status == "running"
    world.rows("UPDATE schema_support SET version = '99.1.0', oldest_version = '99.0.0' RETURNING 1")
    with pytest.raises(urllib.error.HTTPError, match="503") as unready:
        web.ask("/readyz")
    assert "the oldest that works is 99.0.0" in unready.value.read().decode()
    refused = nodes.worker(ready=False)
    assert refused.container.wait() != 0
    told = f"this release {VERSION} is too old for the schema of 99.1.0; the oldest that works is 99.0.0"
    assert told in refused.container.logs()
