"""Where a webhook may be sent, and for how long: real sockets, and a resolver that the test scripts."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from time import monotonic

import pytest

from app.adapters import webhook_post
from app.adapters.webhook_post import MOST_ANSWER, post
from app.services.webhooks.webhooks import Where

HERE = Where(frozenset({443}), allow_loopback=True)
PUBLIC = Where(frozenset({443}))
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
Serve = Callable[..., str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """A receiver on this machine: serve(behave) -> its URL; behave gets each connection after its request was read."""
    opened: list[socket.socket] = []

    def start(behave: Callable[[socket.socket], object], requests: list[bytes] | None = None) -> str:
        listening = socket.create_server(("127.0.0.1", 0))
        opened.append(listening)

        def run() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with closing(connection):
                    got = connection.recv(65536)
                    while b"\r\n\r\n" in got and len(got.partition(b"\r\n\r\n")[2]) < _length(got):
                        got += connection.recv(65536)
                    if requests is not None:
                        requests.append(got)
                    with suppress(OSError):
                        behave(connection)

        threading.Thread(target=run, daemon=True).start()
        return f"http://127.0.0.1:{listening.getsockname()[1]}/hook?x=1"

    yield start
    for one in opened:
        one.close()


def _length(got: bytes) -> int:
    for line in got.partition(b"\r\n\r\n")[0].splitlines():
        if line.lower().startswith(b"content-length:"):
            return int(line.partition(b":")[2])
    return 0


@pytest.fixture
def resolves_to(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Answer the look-ups with these addresses, one list after the other.  Returns: to where was connected."""

    def answer(*rounds: tuple[str, ...]) -> list[str]:
        left, connected = list(rounds), []

        def getaddrinfo(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
            addresses = left.pop(0) if len(left) > 1 else left[0]
            if not addresses:
                raise socket.gaierror
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in addresses]

        def create_connection(where: tuple[str, int], **_: object) -> socket.socket:
            connected.append(where[0])
            raise ConnectionRefusedError

        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
        monkeypatch.setattr(socket, "create_connection", create_connection)
        return connected

    return answer


def test_a_request_is_posted_with_its_headers_and_the_answer_is_read(serve: Serve) -> None:
    requests: list[bytes] = []
    url = serve(lambda connection: connection.sendall(OK), requests)
    reply = post(url, b'{"type":"x"}', {"webhook-id": "msg_1"}, HERE)
    assert (reply.status, reply.text, reply.fault, reply.is_success) == (200, "ok", None, True)
    head, _, body = requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /hook?x=1 HTTP/1.1\r\n")
    assert body == b'{"type":"x"}'
    assert b"webhook-id: msg_1" in head
    assert b"Content-Type: application/json" in head


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "224.0.0.1", "0.0.0.0", "::1",
     "fd00::1", "fe80::1%eth0", "ff02::1", "::ffff:10.0.0.1", "64:ff9b::a00:1"],
)  # fmt: skip
def test_a_name_that_leads_to_an_address_that_is_not_public_is_not_connected_to(
    resolves_to: Callable[..., list[str]], address: str
) -> None:
    connected = resolves_to(("93.184.215.14", address))
    assert post("https://hooks.example.org/", b"{}", {}, PUBLIC).fault == "address_refused"
    assert connected == []


def test_the_address_that_was_checked_is_the_one_that_is_connected_to(resolves_to: Callable[..., list[str]]) -> None:
    connected = resolves_to(("93.184.215.14",), ("127.0.0.1",))  # what a second look-up would give
    assert post("https://hooks.example.org/", b"{}", {}, PUBLIC).fault == "unreachable"
    assert connected == ["93.184.215.14"]


def test_this_machine_is_reached_only_by_its_own_names_and_only_if_allowed(
    resolves_to: Callable[..., list[str]],
) -> None:
    connected = resolves_to(("127.0.0.1",))
    assert post("https://hooks.example.org/", b"{}", {}, HERE).fault == "address_refused"
    assert post("http://localhost/", b"{}", {}, PUBLIC).fault == "address_refused"
    assert connected == []
    assert post("http://localhost/", b"{}", {}, HERE).fault == "unreachable"
    assert connected == ["127.0.0.1"]
    resolves_to(("10.0.0.1",))
    assert post("http://localhost/", b"{}", {}, HERE).fault == "address_refused"


def test_a_port_that_is_not_allowed_and_a_name_that_is_unknown(resolves_to: Callable[..., list[str]]) -> None:
    connected = resolves_to(())
    assert post("https://hooks.example.org:8443/", b"{}", {}, PUBLIC).fault == "address_refused"
    assert post("https://hooks.example.org/", b"{}", {}, PUBLIC).fault == "host_not_found"
    allowed = Where(frozenset({443, 8443}))
    resolves_to(("93.184.215.14",))
    assert post("https://hooks.example.org:8443/", b"{}", {}, allowed).fault == "unreachable"
    assert connected == []


def test_a_redirect_is_not_followed(serve: Serve) -> None:
    requests: list[bytes] = []
    target = serve(lambda connection: connection.sendall(OK), requests)
    moved = f"HTTP/1.1 307 Moved\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n".encode()
    reply = post(serve(lambda connection: connection.sendall(moved)), b"{}", {}, HERE)
    assert (reply.status, reply.fault) == (307, "redirected")
    assert requests == []


def test_proxies_of_the_environment_are_ignored(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert post(serve(lambda connection: connection.sendall(OK)), b"{}", {}, HERE).is_success


@pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 200 OK\r\nX-A: "])
def test_a_receiver_that_hangs_is_cut_off(serve: Serve, sent: bytes) -> None:
    done = threading.Event()

    def hang(connection: socket.socket) -> None:
        connection.sendall(sent)
        done.wait(60)

    began = monotonic()
    reply = post(serve(hang), b"{}", {}, HERE, seconds=0.5)
    done.set()
    assert 0.4 < monotonic() - began < 50
    assert (reply.status, reply.fault) == (None, "timed_out")


def test_what_has_said_its_status_has_said_all_that_counts(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test says when the time is over."""
    done, timed = threading.Event(), list[tuple[float, Callable[[], None]]]()

    class Timed(threading.Timer):
        def start(self) -> None:
            timed.append((self.interval, lambda: self.function(*self.args)))

    def hang(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab")
        [(seconds, cut)] = timed
        assert 0 < seconds <= 60
        cut()
        done.wait(60)

    monkeypatch.setattr(webhook_post, "Timer", Timed)
    began = monotonic()
    reply = post(serve(hang), b"{}", {}, HERE, seconds=60)
    done.set()
    assert monotonic() - began < 30  # the socket's own time limit would end it as well
    assert (reply.status, reply.text, reply.fault) == (200, "ab", None)


def test_a_receiver_that_answers_byte_by_byte_is_cut_off(serve: Serve) -> None:
    ended = threading.Event()

    def drip(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        while not ended.wait(0.05):
            connection.sendall(b"x")

    reply = post(serve(drip), b"{}", {}, HERE, seconds=0.5)
    ended.set()
    assert (reply.status, reply.fault) == (None, "timed_out")


def test_a_slow_resolver_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    done = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: done.wait(60) and [])
    assert post("https://hooks.example.org/", b"{}", {}, PUBLIC, seconds=0.3).fault == "timed_out"
    done.set()


def test_a_huge_answer_is_read_only_in_part(serve: Serve) -> None:
    sent = 0

    def flood(connection: socket.socket) -> None:
        nonlocal sent
        connection.sendall(b"HTTP/1.1 500 No\r\n\r\n")
        while sent < 64 << 20:
            sent += connection.send(b"x" * 65536)

    reply = post(serve(flood), b"{}", {}, HERE)
    assert (reply.status, reply.fault, len(reply.text)) == (500, "refused", MOST_ANSWER)
    assert sent < 64 << 20


@pytest.mark.parametrize(
    "sent", [b"SSH-2.0-OpenSSH_9\r\n", b"HTTP/1.1 abc\r\n\r\n", b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 200]
)
def test_an_answer_that_is_not_http_is_none(serve: Serve, sent: bytes) -> None:
    reply = post(serve(lambda connection: connection.sendall(sent)), b"{}", {}, HERE)
    assert (reply.status, reply.fault) == (None, "unreachable")


def test_a_receiver_without_tls_is_told_nothing(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[bytes] = []
    url = serve(lambda connection: connection.sendall(OK), requests).replace("http://", "https://")
    assert post(url, b"a secret", {}, HERE).fault == "tls_failed"
    assert all(b"a secret" not in got for got in requests)


def test_certificates_are_checked() -> None:
    trust = webhook_post._trust()
    assert trust.verify_mode is ssl.CERT_REQUIRED
    assert trust.check_hostname
