"""Which PostgreSQL the service uses."""

from __future__ import annotations

from sqlalchemy.engine import make_url

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
    """DATABASE_DIRECT_URL: PostgreSQL itself, past a pooler.  Raises: BadSetting."""
    given = settings.database_direct_url
    return _normalised("DATABASE_DIRECT_URL", given) if given else None


def _normalised(name: str, given: str) -> str:
    url = make_url(given.replace("postgres://", "postgresql://", 1))
    if url.get_backend_name() != "postgresql":
        raise BadSetting(f"{name} is for {url.get_backend_name()!r}; allowed is postgresql://…")
    return url.set(drivername="postgresql+psycopg2").render_as_string(hide_password=False)
