"""Broker URLs without their passwords, which kombu and Celery show in more places than they mask.

`Connection.info()`, and so `inspect stats` and Flower, gives the host name of a transport that parses its own URL: all
of it.  So what kombu holds is the URL without the secret, and this process remembers what belongs to it.
"""

import re
from typing import Any

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from .tls import with_tls

#: libpq takes these in the query of a URL as well.
_IN_QUERY = ("password", "sslpassword", "oauth_client_secret")

#: A URL with several hosts, and one of these hosts: SQLAlchemy's parser knows neither.
_SEVERAL = re.compile(
    r"(?P<before>[a-z0-9+]+://(?:[^:/@]*(?::[^@]*)?@)?)(?P<hosts>[^/?@]*,[^/?@]*)(?P<path>/[^?]*)?(?:\?(?P<query>.*))?"
)
_PLACE = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?")

_whole: dict[str, str] = {}


def hide(url: str) -> str:
    """The URL without its password, which `reveal` puts back in this process and in those it forks.

    A role has one password: of two for the same role and database the one given last is remembered.
    """
    found = _parsed(url)
    shown = "(not a URL)" if found is None else _without_secrets(found)
    if shown != url:
        _whole[shown] = url
    return shown


def reveal(url: str) -> str:
    """What `hide` was given; any other URL as it is."""
    return _whole.get(url, url)


def with_ssl(url: str, given: Any) -> str:
    """A URL of `hide`, with what `broker_use_ssl` asks for, and without its password still.  Raises BadOption."""
    if given is None or given is False:
        return url
    found = _parsed(reveal(url))
    return url if found is None else hide(with_tls(found, given).render_as_string(hide_password=False))


def as_uri(url: str, mask: str) -> str:
    """The URL with this in place of the password, if it has one."""
    whole, shown = reveal(url), hide(url)
    user, at, place = shown.partition("://")[2].partition("@")
    if whole == shown or not at:
        return shown
    return f"{shown.partition('://')[0]}://{user}:{mask}@{place}"


def parsed(url: str) -> URL:
    """The parts of a URL, which may name several hosts as libpq does.  Raises: ArgumentError, ValueError."""
    return make_url(_one_host(url))


def _without_secrets(url: URL) -> str:
    plain = URL.create(url.drivername, url.username, None, url.host, url.port, url.database, url.query)
    return plain.difference_update_query(_IN_QUERY).render_as_string(hide_password=False)


def _parsed(url: str) -> URL | None:
    try:
        return parsed(url)
    except (ArgumentError, ValueError):
        return None


def _one_host(url: str) -> str:
    """A URL with several hosts, as libpq writes them (`a:1,b:2`), in the form of SQLAlchemy; any other as it is."""
    found = _SEVERAL.fullmatch(url)
    if found is None:
        return url
    places = [_PLACE.fullmatch(place) for place in found["hosts"].split(",")]
    if None in places:
        raise ValueError("expected HOST:PORT,HOST:PORT")
    hosts = ",".join(place[1].strip("[]") for place in places if place)
    ports = ",".join(place[2] or "5432" for place in places if place)
    more = f"&{found['query']}" if found["query"] else ""
    return f"{found['before']}{found['path'] or '/'}?host={hosts}&port={ports}{more}"
