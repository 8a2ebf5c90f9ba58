"""Which PostgreSQL the service uses."""

from __future__ import annotations

from sqlalchemy.engine import URL, make_url

from app import embedded
from app.errors import BadSetting
from app.settings import Settings


def database_url(settings: Settings) -> str:
    """DATABASE_URL, or the URL of the embedded PostgreSQL, started if it is not running.

    Raises: BadSetting for an address of something else; embedded.EmbeddedUnavailable.
    """
    if settings.database_url is None:
        return embedded.ensure(settings.home).url
    return _normalised("DATABASE_URL", settings.database_url)


def direct_url(settings: Settings) -> str | None:
    """DATABASE_DIRECT_URL: PostgreSQL itself, past a pooler; without the password where it is DATABASE_URL's.

    Celery prints the broker's options, and this is one.  Raises: BadSetting.
    """
    if not settings.database_direct_url:
        return None
    direct = make_url(_normalised("DATABASE_DIRECT_URL", settings.database_direct_url))
    pooled = make_url(database_url(settings))
    if (direct.username, direct.password) == (pooled.username, pooled.password):
        direct = URL.create(direct.drivername, host=direct.host, port=direct.port, database=direct.database,
                            query=direct.query)  # fmt: skip
    return direct.render_as_string(hide_password=False)


def _normalised(name: str, given: str) -> str:
    url = make_url(given.replace("postgres://", "postgresql://", 1))
    if url.get_backend_name() != "postgresql":
        raise BadSetting(f"{name} is for {url.get_backend_name()!r}; allowed is postgresql://…")
    return url.set(drivername="postgresql+psycopg2").render_as_string(hide_password=False)
