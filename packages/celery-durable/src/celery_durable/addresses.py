"""Broker URLs without their passwords, which kombu and Celery show in more places than they mask.

`Connection.info()`, and so `inspect stats` and Flower, gives the host name of a transport that parses its own URL: all
of it.  So what kombu holds is the URL without the secret, and this process remembers what belongs to it.
"""

import re
from traceback import walk_tb
from typing import Any

from .broker_url import BrokerUrl, parse
from .tls import with_tls

#: libpq's words that nobody shall read.
_SECRET = ("password", "sslpassword", "oauth_client_secret")

_whole: dict[str, str] = {}


def hide(url: str) -> str:
    """The URL without its password, which `reveal` puts back in this process and in those it forks.

    A role has one password: of two for the same role and database the one given last is remembered.
    """
    found = _parsed(url)
    shown = "(not a URL)" if found is None else found.replaced(**dict.fromkeys(_SECRET)).render()
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
    return url if found is None else hide(with_tls(found, given).render())


def as_uri(url: str, mask: str) -> str:
    """The URL with this in place of the password, if it has one."""
    whole, shown = reveal(url), hide(url)
    user, at, place = shown.partition("://")[2].partition("@")
    if whole == shown or not at:
        return shown
    return f"{shown.partition('://')[0]}://{user}:{mask}@{place}"


def reason(error: Exception, url: Any) -> str:
    """The first line of an error about a URL, or of another one.

    Not that of a parser which repeats a piece of the URL: a `/` in a password makes the rest of it a port, or a path.
    """
    text = str(error.args[0] if isinstance(error, KeyError) and error.args else error).strip().partition("\n")[0]
    is_parsers = isinstance(error, ValueError | TypeError) and not _is_ours(error)
    if is_parsers and any(word in str(url) for word in re.findall(r"\w+", text)):
        return "its URL cannot be read; in a password / is written %2F, @ is %40 and : is %3A"
    return text


def _is_ours(error: Exception) -> bool:
    """Whether it was raised in this package, whose texts repeat no URL."""
    frames = list(walk_tb(error.__traceback__))
    return bool(frames) and str(frames[-1][0].f_globals.get("__name__")).startswith("celery_durable.")


def _parsed(url: str) -> BrokerUrl | None:
    try:
        return parse(url)
    except ValueError:
        return None
