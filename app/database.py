"""Which PostgreSQL the service uses, and how its schema gets there."""

from __future__ import annotations

from importlib.resources import files

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine
from sqlalchemy.engine import make_url

from app import embedded
from app.errors import BadSetting
from app.settings import Settings
from app.store import schema


def database_url(settings: Settings) -> str:
    """DATABASE_URL, or the URL of the embedded PostgreSQL, started if it is not running.

    Raises: BadSetting for an address of something else; embedded.EmbeddedUnavailable.
    """
    if settings.database_url is None:
        return embedded.ensure(settings.home).url
    return _normalised("DATABASE_URL", settings.database_url)


def direct_url(settings: Settings) -> str | None:
    """DATABASE_DIRECT_URL: PostgreSQL itself, past a pooler.  Raises: BadSetting."""
    given = settings.database_direct_url
    return _normalised("DATABASE_DIRECT_URL", given) if given else None


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


def _normalised(name: str, given: str) -> str:
    url = make_url(given.replace("postgres://", "postgresql://", 1))
    if url.get_backend_name() != "postgresql":
        raise BadSetting(f"{name} is for {url.get_backend_name()!r}; allowed is postgresql://…")
    return url.set(drivername="postgresql+psycopg2").render_as_string(hide_password=False)


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
