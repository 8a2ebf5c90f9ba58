"""Clients that are slow, silent or sign in cost the others nothing: `make prove-sockets` opens 500 of each slow kind."""

from __future__ import annotations

import os
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Self

import pytest
from service_harness.application import Web
from service_harness.inventories import a_test, file

from app.domain.plans import Tier
from app.services.accounts import passwords
from tests.tiers import proofs
from tests.web.serving import ask, serving
from tests.web.signing_in import Signers, form, send

pytestmark = pytest.mark.proof

SOCKETS = int(os.environ.get("SOCKETS", "60"))
#: What slow clients may add to health: generous, as machines are slow; the proof on a quiet machine says 0.1.
SECONDS = float(os.environ.get("SOCKETS_SECONDS", "4"))
ASKED = 20
#: Clients' addresses that sign in, and what a read may take beside them where the machine is quiet.
SIGNERS, READ_SECONDS = 60, float(os.environ.get("SOCKETS_READ_SECONDS", "4"))


def head(method: str, path: str, *headers: str) -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: localhost", *headers]).encode() + b"\r\n"


class Crowd:
    """Connections of one kind; `drip` of each is sent a byte at a time for as long as it lasts.

    reads: wait until the server has begun to answer each of them, and then read no more.
    """

    def __init__(self, port: int, first: bytes, *, drip: bytes = b"", reads: bool = False) -> None:
        self.sockets: list[socket.socket] = []
        self._port, self._first, self._drip, self._reads = port, first, drip, reads
        self._over = threading.Event()
        self._dripping = threading.Thread(target=self._send_slowly)

    def __enter__(self) -> Self:
        for _ in range(SOCKETS):
            one = socket.socket()
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.settimeout(30)
            one.connect(("127.0.0.1", self._port))
            one.sendall(self._first)
            self.sockets.append(one)
        assert not self._reads or all(one.recv(4096) for one in self.sockets)
        self._dripping.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._dripping.join()
        for one in self.sockets:
            one.close()

    def _send_slowly(self) -> None:
        for byte in self._drip:
            if self._over.wait(0.5):
                return
            for one in self.sockets:
                try:
                    one.sendall(bytes([byte]))
                except OSError:  # the server had enough of it
                    continue


@pytest.fixture
def long_result(web: Web) -> str:
    """An analysis whose export is longer than any buffer on its way."""
    job_id: str = web.submit("long").json["id"]
    web.completed(job_id, [file("tests/test_long.py", *(a_test(f"{n} {'x' * 300}", line=n) for n in range(1, 12_001)))])
    return job_id


@pytest.fixture
def port(web: Web, database_url: str, tmp_path: Path) -> Iterator[int]:
    del web
    config = os.environ.get("SOCKETS_SERVER", "").split()
    with serving(database_url, tmp_path, **({"config": config} if config else {})) as found:  # type: ignore[arg-type]
        yield found


def crowds(port: int, export: str, watched: str) -> dict[str, Callable[[], Crowd]]:
    body = head("POST", "/api/v1/analyses", "Content-Type: application/json", "Content-Length: 900000", "")
    return {
        "one byte, and silence": lambda: Crowd(port, b"G"),
        "a slow head": lambda: Crowd(port, head("GET", "/"), drip=b"X-Slow: " + b"x" * 1000),
        "a slow body": lambda: Crowd(port, body + b'{"repository": "', drip=b"x" * 1000),
        "an export that is not read": lambda: Crowd(
            port, head("GET", f"/api/v1/analyses/{export}/tests?format=ndjson", ""), reads=True
        ),
        "idle, kept alive": lambda: Crowd(port, head("GET", "/healthz", ""), reads=True),
        "idle streams of events": lambda: Crowd(
            port, head("GET", f"/api/v1/analyses/{watched}/events", ""), reads=True
        ),
    }


KINDS = tuple(crowds(0, "", ""))


def slowest(port: int, path: str = "/healthz") -> float:
    """Of some requests, each on a connection of its own."""
    times = []
    for _ in range(ASKED):
        began = time.perf_counter()
        assert ask(port, "GET", path)[0] == 200
        times.append(time.perf_counter() - began)
    return max(times)


@contextmanager
def many_files() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65536) if hard > 0 else 65536, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("kind", proofs(KINDS, but=["a slow head"]))
def test_health_answers_under_many_slow_connections(kind: str, port: int, web: Web, long_result: str) -> None:
    watched = web.submit("watched").json["id"]
    alone = slowest(port)
    with many_files(), crowds(port, long_result, watched)[kind]():
        took = slowest(port)
        print(f"{SOCKETS} connections, {kind}: health within {took * 1000:.0f} ms, without them {alone * 1000:.0f}")
        assert took < alone + SECONDS


def test_health_answers_under_all_kinds_at_once(port: int, web: Web, long_result: str) -> None:
    watched = web.submit("watched").json["id"]
    alone = slowest(port)
    with many_files(), ExitStack() as held:
        for make in crowds(port, long_result, watched).values():
            held.enter_context(make())
        took = slowest(port)
        print(
            f"{SOCKETS} connections of each kind: health within {took * 1000:.0f} ms, without them {alone * 1000:.0f}"
        )
        assert took < alone + SECONDS


def test_a_read_is_answered_while_many_addresses_sign_in(web: Web, database_url: str, tmp_path: Path) -> None:
    """In the control as many are connected, and two of them sign in, so the processors are as busy."""
    path = f"/api/v1/analyses/{web.submit('read').json['id']}"
    with serving(database_url, tmp_path, TRUST_PROXY="true") as port:
        alone = slowest(port, path)
        with Signers(port, SIGNERS, signing=2) as few:
            control = slowest(port, path)
        with Signers(port, SIGNERS, signing=SIGNERS) as many:
            took = slowest(port, path)
    told = f"alone {alone:.2f} s, two sign in {control:.2f} s, {SIGNERS} sign in {took:.2f} s"
    print(f"{told}; answers {dict(few.answers)} and {dict(many.answers)}")
    assert many.answers[401] > 2
    assert took < max(READ_SECONDS, 2 * control), told


def test_who_is_signed_in_confirms_the_password_while_many_addresses_sign_in(
    web: Web, database_url: str, tmp_path: Path
) -> None:
    email, password = "ann@example.org", "correct horse battery"
    passwords.sign_up(
        web.uow, email, password, tier=Tier.FREE, per_day=9, client="192.0.2.1", secret="x", now=web.uow.now()
    )
    with serving(database_url, tmp_path, TRUST_PROXY="true") as port:
        status, cookie = send(port, "/sign-in/password", *form(port, "/sign-in"), email=email, password=password)
        assert status == 303
        with Signers(port, SIGNERS, signing=SIGNERS) as many:
            for _ in range(3):
                status, cookie = send(
                    port, "/account/confirm", *form(port, "/account/confirm", cookie), current=password
                )
                assert status == 303
    assert many.answers[503] > 0
