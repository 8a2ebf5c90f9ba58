"""How the database gets its schema.  Apart from the URLs, as workers need those and not Alembic (0.25 s of import)."""

from __future__ import annotations

from importlib.resources import files

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine

from app.errors import BadSetting
from app.store import schema


def migrate(engine: Engine) -> str:
    """Bring the database to the newest schema and return its revision; safe to repeat and from many hosts at once.

    Raises: BadSetting when the database is newer than this release.
    """
    config = _config()
    with engine.connect() as connection:
        _refuse_newer(connection, config)
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        return schema.revision(connection) or ""


def head_revision() -> str:
    """The revision this release needs."""
    return ScriptDirectory.from_config(_config()).get_current_head() or ""


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(files("migrations")))
    return config


def _refuse_newer(connection: Connection, config: Config) -> None:
    current = schema.revision(connection)
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    connection.rollback()
    if current and current not in known:
        raise BadSetting(f"The database is at revision {current}, which this release does not know; use a newer one")
