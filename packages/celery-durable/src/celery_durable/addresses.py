"""Broker URLs without their passwords, which kombu and Celery show in more places than they mask.

`Connection.info()`, and so `inspect stats` and Flower, gives the host name of a transport that parses its own URL: all
of it.  So what kombu holds is the URL without the secret, and this process remembers what belongs to it.
"""

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

#: libpq takes these in the query of a URL as well.
_IN_QUERY = ("password", "sslpassword", "oauth_client_secret")

_whole: dict[str, str] = {}


def hide(url: str) -> str:
    """The URL without its password, which `reveal` puts back in this process and in those it forks.

    A role has one password: of two for the same role and database the one given last is remembered.
    """
    parsed = _parsed(url)
    shown = "(not a URL)" if parsed is None else _without_secrets(parsed)
    if shown != url:
        _whole[shown] = url
    return shown


def reveal(url: str) -> str:
    """What `hide` was given; any other URL as it is."""
    return _whole.get(url, url)


def as_uri(url: str, mask: str) -> str:
    """The URL with this in place of the password, if it has one."""
    whole, shown = reveal(url), hide(url)
    user, at, place = shown.partition("://")[2].partition("@")
    if whole == shown or not at:
        return shown
    return f"{shown.partition('://')[0]}://{user}:{mask}@{place}"


def _without_secrets(url: URL) -> str:
    plain = URL.create(url.drivername, url.username, None, url.host, url.port, url.database, url.query)
    return plain.difference_update_query(_IN_QUERY).render_as_string(hide_password=False)


def _parsed(url: str) -> URL | None:
    try:
        return make_url(url)
    except (ArgumentError, ValueError):
        return None
