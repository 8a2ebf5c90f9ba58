"""The rules of webhooks: their events, the addresses that they may have, and when a failed attempt is repeated."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Literal, NamedTuple, get_args
from urllib.parse import urlsplit

from app.domain.addresses import is_public
from app.errors import Message

EventName = Literal[
    "analysis.completed",
    "analysis.failed",
    "analysis.cancelled",
    "specification.completed",
    "specification.failed",
    "specification.cancelled",
]
EVENTS: tuple[EventName, ...] = get_args(EventName)
#: The event that the owner sends by hand; no webhook chooses it.
TEST = "webhook.test"
MOST_WEBHOOKS = 10
#: Deliveries of one webhook that are to be sent.  A further event is logged as failed (app/store/sql/webhooks.sql).
MOST_PENDING = 100
MOST_URL = 500
#: How long the previous secret signs after a rotation.
OLD_SECRET_LIVES = timedelta(hours=24)
#: A webhook to which every attempt failed for this long is disabled.
PATIENCE = timedelta(days=5)
#: How long the log keeps a delivery.
LOG_LIVES = timedelta(days=30)
#: Delays after failed attempts 1, 2, …; together 27 hours.  After the last one the delivery has failed.
DELAYS = (
    timedelta(seconds=5),
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=8),
    timedelta(hours=12),
)
#: Between two attempts at a webhook that fails, whatever is due, so that it cannot occupy a worker.
SHORTEST_PAUSE, LONGEST_PAUSE = timedelta(seconds=5), timedelta(minutes=5)

_HOST = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)(\.(?!-)[A-Za-z0-9-]{1,63}(?<!-))*\.?")
_NUMBER = re.compile(r"[0-9]+|0[xX][0-9A-Fa-f]*")
_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class WebhookFields:
    """The fields that the owner of a webhook decides, by the names of the columns.  events: each once."""

    url: str
    description: str
    events: Sequence[str]


#: The names of these columns; statements and forms are made of them, so a further column is a further field.
OWN = tuple(field.name for field in fields(WebhookFields))


class ReceiverAddress(NamedTuple):
    """Where to post.  target: path and query."""

    scheme: str
    host: str
    port: int
    target: str


def backoff(attempts: int, roll: float) -> timedelta | None:
    """The delay after that many failed attempts, with up to 20 % jitter; None: there is no further attempt."""
    if attempts > len(DELAYS):
        return None
    return DELAYS[attempts - 1] * (1 + 0.2 * roll)


def pause(failures: int) -> timedelta:
    """How long a webhook rests after that many failures in a row."""
    return min(LONGEST_PAUSE, SHORTEST_PAUSE * (1 << 2 * min(failures - 1, 8)))


def parse_url(url: str, *, ports: frozenset[int], allow_loopback: bool) -> ReceiverAddress:
    """The address of a URL that a webhook may have.  Raises: ValueError with words for the owner.

    The addresses to which a name leads are checked when it is connected to (app/adapters/webhook_post.py).
    """
    if len(url) > MOST_URL or not re.fullmatch(r"[!-~]+", url) or "\\" in url:
        raise ValueError(
            Message("expected an address of at most %(most)s ASCII characters, without spaces", most=MOST_URL)
        )
    try:
        parts = urlsplit(url)
        port, host = parts.port, parts.hostname or ""
    except ValueError:
        raise ValueError(Message("expected an address such as https://example.org/webhook")) from None
    if parts.scheme not in _PORTS or not host or "@" in parts.netloc or parts.fragment:
        raise ValueError(Message("expected an address such as https://example.org/webhook, without user and fragment"))
    address = ReceiverAddress(parts.scheme, host, port or _PORTS[parts.scheme], _target(parts.path, parts.query))
    if allow_loopback and is_loopback(host):
        return address
    if parts.scheme != "https":
        raise ValueError(Message("expected https://"))
    if address.port not in ports:
        raise ValueError(Message("expected port %(ports)s", ports="/".join(map(str, sorted(ports)))))
    _refuse_private(host)
    return address


def is_loopback(host: str) -> bool:
    """Whether a host is the machine itself by its spelling."""
    return host == "localhost" or ((given := _literal(host)) is not None and given.is_loopback)


def _refuse_private(host: str) -> None:
    literal = _literal(host)
    if literal is not None and not is_public(literal):
        raise ValueError(Message("expected a public address"))
    # resolvers read 127.1 and 0x7f.1 as addresses
    if literal is None and (not _HOST.fullmatch(host) or _NUMBER.fullmatch(host.rstrip(".").rpartition(".")[2])):
        raise ValueError(Message("expected the name of a host"))
    if literal is None and ("." not in host.rstrip(".") or host.rstrip(".").endswith((".localhost", ".local"))):
        raise ValueError(Message("expected a public address"))


def _target(path: str, query: str) -> str:
    return (path or "/") + (f"?{query}" if query else "")


def _literal(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
