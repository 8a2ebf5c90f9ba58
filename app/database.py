"""The PostgreSQL that the service uses, and its roles."""

from __future__ import annotations

from sqlalchemy.engine import URL, make_url

from app import embedded
from app.errors import BadSetting
from app.settings import Settings


def database_url(settings: Settings) -> str:
    """DATABASE_URL, or the URL of the embedded PostgreSQL, which is started if it does not run.

    Raises: embedded.EmbeddedUnavailable.
    """
    if settings.database_url is None:
        return embedded.ensure(settings.home).url
    return settings.database_url.get_secret_value()


def owner_url(settings: Settings) -> str:
    """The database as the owner of its tables: DATABASE_OWNER_URL, or DATABASE_URL if one role is both.

    Raises: embedded.EmbeddedUnavailable.
    """
    if settings.database_url is None:
        return embedded.ensure(settings.home).owner_url
    return (settings.database_owner_url or settings.database_url).get_secret_value()


def directory_url(settings: Settings) -> str:
    """DIRECTORY_URL, of a service with cells.  Raises: BadSetting."""
    if settings.directory_url is None:
        raise BadSetting("DIRECTORY_URL: expected with CELLS")
    return settings.directory_url.get_secret_value()


def direct_url(settings: Settings) -> str | None:
    """DATABASE_DIRECT_URL, which reaches PostgreSQL without a pooler; without the password if that is DATABASE_URL's.

    Celery prints the broker's options, and this is one of them.
    """
    if not settings.database_direct_url:
        return None
    direct = make_url(settings.database_direct_url.get_secret_value())
    pooled = make_url(database_url(settings))
    if (direct.username, direct.password) == (pooled.username, pooled.password):
        direct = URL.create(direct.drivername, host=direct.host, port=direct.port, database=direct.database,
                            query=direct.query)  # fmt: skip
    return direct.render_as_string(hide_password=False)


def session_url(settings: Settings) -> str:
    """The direct URL with user and password, or DATABASE_URL: for our own connections that need a session.

    Raises: embedded.EmbeddedUnavailable.
    """
    if not settings.database_direct_url:
        return database_url(settings)
    direct = make_url(settings.database_direct_url.get_secret_value())
    pooled = make_url(database_url(settings))
    if direct.username is None:
        direct = direct.set(username=pooled.username)
    if direct.password is None and direct.username == pooled.username:
        direct = direct.set(password=pooled.password)
    return direct.render_as_string(hide_password=False)
