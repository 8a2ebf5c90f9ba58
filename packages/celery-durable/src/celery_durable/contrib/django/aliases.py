"""Which of Django's databases the broker is."""

from collections.abc import Mapping
from typing import Any

from celery import current_app
from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS, connections

from celery_durable import schema
from celery_durable.addresses import reveal
from celery_durable.broker_url import BrokerUrl
from celery_durable.database import connect_arguments

#: Before the alias in a broker URL.
SCHEME = "durable-django://"
#: OPTIONS of DATABASES that are Django's and the drivers', and no parameters of libpq.
NOT_LIBPQ = frozenset({
    "assume_role", "autocommit", "client_encoding", "connection_factory", "context", "cursor_factory",
    "isolation_level", "pool", "prepare_threshold", "row_factory", "server_side_binding",
})  # fmt: skip


def broker_url(alias: str) -> str:
    """The broker URL, with its password, of a database of DATABASES.  Raises: ImproperlyConfigured, ValueError."""
    if alias not in connections:
        raise ValueError(f"DATABASES has no {alias!r}, which the broker URL names; it has {', '.join(connections)}")
    connection = connections[alias]
    if connection.vendor != "postgresql":
        raise ValueError(f"the broker needs PostgreSQL, and the database {alias!r} is {connection.display_name}")
    given = connection.settings_dict
    words = {name: str(value) for name, value in given["OPTIONS"].items() if name not in NOT_LIBPQ}
    own = {"user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT", "dbname": "NAME"}
    words |= {word: str(given[name]) for word, name in own.items() if given[name]}
    return BrokerUrl("durable", words).render()


def alias_in(url: str) -> str:
    """The alias in a URL `durable-django://ALIAS`; without one, it is "default"."""
    return url.removeprefix(SCHEME).strip("/") or DEFAULT_DB_ALIAS


def database_of(app: Any) -> str | None:
    """The alias of the database that is the broker of a Celery app, or None.

    Another URL of this transport names one of DATABASES if host, port and database are written alike in both.  Of
    several, a replica of a test for one, it is the one with an open transaction, else "default", else the first.
    """
    found = databases_of(app)
    return next((alias for alias in found if is_open(connections[alias])), next(iter(found), None))


def databases_of(app: Any) -> list[str]:
    """All aliases that may be meant, "default" first."""
    url = app.conf.broker_write_url
    if not isinstance(url, str):
        return []
    if url.startswith(SCHEME):
        return [alias_in(url)]
    place = _place_of_url(url)
    found = [alias for alias in connections if place and _place_of_alias(alias) == place]
    return sorted(found, key=lambda alias: alias != DEFAULT_DB_ALIAS)


def is_open(connection: Any) -> bool:
    """Whether what is written through a connection of Django's waits for a commit.

    Without autocommit its first statement begins a transaction, also where it has not connected yet.
    """
    is_connected = connection.connection is not None
    autocommit = connection.autocommit if is_connected else connection.settings_dict["AUTOCOMMIT"]
    return connection.in_atomic_block or not autocommit


def broker_options(app: Any) -> dict[str, Any] | None:
    """The options that functions of this package take: the schema of the tables, if the app names one."""
    name = (app.conf.broker_transport_options or {}).get("schema")
    return {"schema": name} if name else None


def default_alias() -> str:
    """The alias at which models and admin look: the broker of the current app, or "default"."""
    return database_of(current_app) or DEFAULT_DB_ALIAS


def bring_version(schema_editor: Any, version: int) -> None:
    """Make the broker's tables of a version, in a migration.  A database of another kind is left as it is.

    Raises what `schema.upgrade` does.
    """
    if schema_editor.connection.vendor == "postgresql":
        schema.upgrade(schema_editor.connection, broker_options(current_app), to=version)


def _place_of_url(url: str) -> tuple[str, str, str] | None:
    if not url.startswith("durable"):
        return None
    try:
        return _place(connect_arguments(reveal(url.removeprefix("durable+"))))
    except ValueError:
        return None


def _place_of_alias(alias: str) -> tuple[str, str, str] | None:
    try:
        connection = connections[alias]
        return _place(connection.get_connection_params()) if connection.vendor == "postgresql" else None
    except ImproperlyConfigured:  # Django says so where it is used
        return None


def _place(parameters: Mapping[str, Any]) -> tuple[str, str, str]:
    host, port, name = (parameters.get(key) for key in ("host", "port", "dbname"))
    return str(host or ""), str(port or 5432), str(name or "")
