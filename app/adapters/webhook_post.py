"""Post to an address that a user chose: only to public ones, without redirects, and never for long.

The name is resolved once, every answer is checked, and the connection goes to the checked address, so that a second
resolution cannot lead elsewhere.  No proxy is used, as one would resolve the name again.
"""

import ipaddress
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from http.client import HTTPConnection, HTTPException, HTTPResponse
from queue import Empty, Queue
from threading import Thread, Timer
from time import monotonic

from app.domain.addresses import is_public
from app.domain.webhooks import ReceiverAddress, is_loopback, parse_url
from app.services.webhooks.deliver import PATIENT, Post, Reply
from app.services.webhooks.webhooks import Where
from app.settings import Settings

#: Bytes of an answer that are read.
MOST_ANSWER = 64 << 10
AGENT = "Fairlane-Webhooks/1"


class _RefusedError(Exception):
    """The address is not allowed, or the receiver did not answer; its text is the fault's code."""


def poster(settings: Settings) -> Post:
    """The post function that obeys the settings."""
    where = Where.of(settings)

    def send(url: str, body: bytes, headers: dict[str, str], seconds: float) -> Reply:
        return post(url, body, headers, where, seconds=seconds)

    return send


def post(url: str, body: bytes, headers: dict[str, str], where: Where, *, seconds: float = PATIENT) -> Reply:
    """One request.  seconds: for name, connection, request and answer.  Every way to fail is a Reply with a fault."""
    ends = monotonic() + seconds
    try:
        address = parse_url(url, ports=where.ports, allow_loopback=where.allow_loopback)
        resolved = _resolved(address, where, ends)
        with _connected(address, resolved, ends) as connection:
            return _exchange(connection, address, body, headers, ends)
    except ssl.SSLError:  # first, as a certificate that is not valid is a ValueError as well
        return Reply(None, fault="timed_out" if monotonic() >= ends else "tls_failed")
    except ValueError:
        return Reply(None, fault="address_refused")
    except _RefusedError as refused:
        return Reply(None, fault=str(refused))
    except (OSError, HTTPException):
        return Reply(None, fault="timed_out" if monotonic() >= ends else "unreachable")


def _resolved(address: ReceiverAddress, where: Where, ends: float) -> str:
    """The address of the host that is connected to.  Raises: _RefusedError."""
    loopback = where.allow_loopback and is_loopback(address.host)
    for found in (every := _look_up(address, ends)):
        given = ipaddress.ip_address(found.partition("%")[0])
        if not (given.is_loopback if loopback else is_public(given)):
            raise _RefusedError("address_refused")
    return every[0]


def _look_up(address: ReceiverAddress, ends: float) -> list[str]:
    """Every address of the host; in a thread, as the resolver knows no time limit."""
    answers: Queue[list[str]] = Queue()

    def ask() -> None:
        try:
            found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            found = []
        answers.put([str(info[4][0]) for info in found])

    Thread(target=ask, daemon=True, name="webhook look-up").start()
    try:
        found = answers.get(timeout=max(0.0, ends - monotonic()))
    except Empty:
        raise _RefusedError("timed_out") from None
    if not found:
        raise _RefusedError("host_not_found")
    return found


@contextmanager
def _connected(address: ReceiverAddress, resolved: str, ends: float) -> Iterator[HTTPConnection]:
    """A connection that is cut at the end of its time, whatever the receiver does, even if it sends byte by byte."""
    left = max(0.01, ends - monotonic())
    raw = socket.create_connection((resolved, address.port), timeout=left)
    cut = Timer(max(0.01, ends - monotonic()), _cut, [lifeline := raw.dup()])
    cut.daemon = True
    cut.start()
    connection = HTTPConnection(address.host, address.port)
    connection.default_port = 443 if address.scheme == "https" else 80  # so that Host names no usual port
    try:
        connection.sock = _trust().wrap_socket(raw, server_hostname=address.host) if address.scheme == "https" else raw
        yield connection
    finally:
        cut.cancel()
        connection.close()
        raw.close()
        lifeline.close()


def _cut(lifeline: socket.socket) -> None:
    with suppress(OSError):  # it is closed already
        lifeline.shutdown(socket.SHUT_RDWR)


def _exchange(
    connection: HTTPConnection, address: ReceiverAddress, body: bytes, headers: dict[str, str], ends: float
) -> Reply:
    sent = {"Content-Type": "application/json", "User-Agent": AGENT, "Accept-Encoding": "identity", **headers}
    connection.request("POST", address.target, body=body, headers=sent)
    response = connection.getresponse()
    if monotonic() >= ends:  # headers that were cut off look like whole ones
        raise _RefusedError("timed_out")
    return Reply(response.status, _text(response), _fault(response.status))


def _text(response: HTTPResponse) -> str:
    """The beginning of the answer; of an interrupted answer, the part that arrived."""
    content = bytearray()
    with suppress(OSError, HTTPException):
        while len(content) < MOST_ANSWER and (more := response.read1(min(4096, MOST_ANSWER - len(content)))):
            content += more
    return content.decode("utf-8", "replace")


def _fault(status: int) -> str | None:
    """A redirect has a name of its own, because people expect that it is followed."""
    if 200 <= status < 300:
        return None
    return "redirected" if 300 <= status < 400 else "refused"


@cache
def _trust() -> ssl.SSLContext:
    return ssl.create_default_context()
