"""Migrate the database.  This is separate from the URLs, as workers need those but not Alembic (0.25 s of import)."""

from __future__ import annotations

import random
import time
from importlib.resources import files

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from app.errors import BadSetting
from app.migration_plan import MigrationPlan, planned
from app.store.core import schema
from app.store.core.schema import SchemaState
from app.version import VERSION

#: The revisions that were folded into 0037 (docs/adr/0066), and the release with migrations from them to it.
FOLDED = frozenset(f"{number:04}" for number in range(1, 37)) | {f"0000.{number}" for number in range(1, 5)}
LAST_UNFOLDED, ITS_COMMIT = "0.1.0", "c411a5a6"
#: Deadlock, and a lock time-out: a migration locks tables in an order that no step uses, and waits only briefly.
IN_THE_WAY = ("40P01", "55P03")
TRIES, PAUSE_SECONDS = 30, 2.0


def migrate(engine: Engine, *, role: str | None = None, allow_newer: bool = False) -> str:
    """Migrate the database to the newest schema and return its revision; safe to repeat and from many hosts at once.

    engine: as the owner of the tables; role: the application's, which gets its rights (docs/adr/0035).  allow_newer:
    leave a newer schema alone, so that an earlier release may start; other code decides whether it can serve.
    Raises: BadSetting if the database is newer than this release, or so old that another release has to migrate it
    first, or if it has no such role.
    """
    config = _config()
    with engine.connect() as connection:
        if newer := _newer(connection, config):
            if allow_newer:
                return newer.revision or ""
            raise _too_new(newer)
        config.attributes |= {"connection": connection, "role": role}
        _upgrade(connection, config)
        return schema.revision(connection) or ""


def _upgrade(connection: Connection, config: Config) -> None:
    """Run all migrations; one that conflicts with traffic is started again, after a pause for the traffic to pass."""
    for tries_left in reversed(range(TRIES)):
        try:
            command.upgrade(config, "head")
        except DBAPIError as error:
            if not tries_left or getattr(error.orig, "pgcode", None) not in IN_THE_WAY:
                raise
            connection.rollback()
            time.sleep(random.random() * PAUSE_SECONDS)  # noqa: S311 - no secret
        else:
            return


def plan(engine: Engine) -> MigrationPlan:
    """Plan what `migrate` would do, and change nothing.  Raises: as migrate, for the role excepted."""
    config = _config()
    with engine.connect() as connection:
        if newer := _newer(connection, config):
            raise _too_new(newer)
        refuse_folded(connection)
        return planned(connection, ScriptDirectory.from_config(config))


def head_revision() -> str:
    """The revision that this release needs."""
    return ScriptDirectory.from_config(_config()).get_current_head() or ""


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(files("migrations")))
    return config


def _newer(connection: Connection, config: Config) -> SchemaState | None:
    """The database's schema, if this release does not know its revision."""
    # read first: a session that stands still in a transaction for longer than its time-out is ended
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    found = schema.state(connection)
    connection.rollback()
    return found if found.revision and found.revision not in known | FOLDED else None


def _too_new(found: SchemaState) -> BadSetting:
    of = f" (of {found.version})" if found.version else ""
    return BadSetting(
        f"The database is at revision {found.revision}{of}, which this release {VERSION} does not know: use a newer one"
    )


def refuse_folded(connection: Connection) -> None:
    """Refuse a database from before revision 0037, as this release lacks its migrations.  Raises: BadSetting."""
    current = schema.revision(connection)
    connection.rollback()
    if current in FOLDED:
        raise BadSetting(
            f"The database is at revision {current}, and this release migrates from 0037 on: first run "
            f"`fairlane migrate` of {LAST_UNFOLDED}, which is commit {ITS_COMMIT} (docs/upgrading.md, *Hard stops*)"
        )
