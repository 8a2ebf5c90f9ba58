"""The bridge: which requests wait for which threads, and which are refused without one."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import threading
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest
from flask import request
from service_harness.application import Web
from werkzeug.test import EnvironBuilder
from werkzeug.wrappers import Response

from app.server import bodies, bridge
from app.server.application import bridged
from app.server.bodies import LongBodies
from app.server.bridge import Bridge
from app.services.accounts import password_hashes
from app.services.accounts.accounts import household
from app.web.core.client_addresses import behind_proxy, client_of

SIGN_IN = ("POST", "/sign-in/password")
READ = ("GET", "/api/v1/analyses")
#: How a view calls what takes a turn to hash (app/services/accounts/password_hashes.py).
HASHES = re.compile(
    r"\b(own_)?turn\(|\bpasswords\.(sign_up|sign_in|confirm|change)\(|\bpassword_resets\.reset\(|\bconfirmations\.(by_password|require)\("
)
LONG = b"x" * (bridge.LARGE_BYTES + 1)
STRANGERS_PLACES = bodies.PLACES - bodies.FOR_KNOWN


@dataclass
class Application:
    """Answers a read at once, and anything else only when it may; `busy` counts the threads that are in it."""

    may: threading.Event = field(default_factory=threading.Event)
    busy: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def __call__(self, environ: dict[str, Any], start: Callable[..., object]) -> Iterable[bytes]:
        if environ["PATH_INFO"] != READ[1] or environ["wsgi.input"].read():
            self.busy.release()
            self.may.wait(60)
        start("200 OK", [("content-type", "text/plain")])
        return [b"done"]


@dataclass
class Client:
    """One request.  chunks: of its body, before each of which it waits for `more`."""

    path: tuple[str, str]
    address: str = "192.0.2.1"
    chunks: list[bytes] = field(default_factory=list)
    more: asyncio.Event = field(default_factory=asyncio.Event)
    sent: list[dict[str, Any]] = field(default_factory=list)

    def scope(self) -> dict[str, Any]:
        method, path = self.path
        return {
            "type": "http", "http_version": "1.1", "method": method, "scheme": "http", "path": path,
            "raw_path": path.encode(), "query_string": b"", "headers": [], "server": ("localhost", 80),
            "client": (self.address, 1),
        }  # fmt: skip

    async def receive(self) -> dict[str, Any]:
        if not self.chunks:
            await self.more.wait()
            return {"type": "http.request", "body": b"", "more_body": False}
        return {"type": "http.request", "body": self.chunks.pop(0), "more_body": True}

    async def send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)

    async def run(self, server: Bridge) -> tuple[int, dict[str, Any] | bytes]:
        """The status, and the body."""
        await server(self.scope(), self.receive, self.send)
        body = b"".join(message.get("body", b"") for message in self.sent)
        return self.sent[0]["status"], json.loads(body) if body.startswith(b"{") else body

    def begin(self, server: Bridge) -> asyncio.Task[tuple[int, dict[str, Any] | bytes]]:
        return asyncio.create_task(self.run(server))


def sent(path: tuple[str, str], address: str) -> Client:
    """A request that has arrived."""
    client = Client(path, address)
    client.more.set()
    return client


def long_body(address: str) -> Client:
    """A request with a long body, which has arrived."""
    client = Client(READ, address, [LONG])
    client.more.set()
    return client


def play(scene: Callable[[Bridge, Application], Awaitable[None]], **options: Any) -> None:
    app = Application()
    server = Bridge(app, longest_body=1_000_000, client=lambda environ: environ["REMOTE_ADDR"], **options)
    try:
        asyncio.run(scene(server, app))
    finally:
        app.may.set()


async def fill(server: Bridge, app: Application, path: tuple[str, str], threads: int) -> list[Any]:
    """Occupy all threads of a path."""
    begun = [sent(path, f"198.51.100.{n}").begin(server) for n in range(threads)]
    for _ in begun:
        await asyncio.to_thread(app.busy.acquire)
    return begun


STRANGERS = (bridge.SIGN_IN_THREADS, 0)
OWNERS = (bridge.OWN_THREADS, bridge.OWN_QUEUED)


@pytest.mark.parametrize(
    ("path", "threads", "queued"),
    [
        ("/sign-in/password", *STRANGERS),
        ("/sign-up", *STRANGERS),
        ("/reset", *OWNERS),
        ("/account/confirm", *OWNERS),
        ("/account/password", *OWNERS),
        ("/account/delete", *OWNERS),
    ],
)
def test_a_read_has_a_thread_however_many_sign_in(path: str, threads: int, queued: int) -> None:
    async def scene(server: Bridge, app: Application) -> None:
        begun = await fill(server, app, ("POST", path), threads)
        begun += [sent(("POST", path), f"203.0.113.{n}").begin(server) for n in range(200)]
        for _ in range(3):
            assert await sent(READ, "192.0.2.1").run(server) == (200, b"done")
        app.may.set()
        statuses = [status for status, _ in await asyncio.gather(*begun)]
        assert statuses.count(200) == threads + queued

    play(scene, threads=1)


@pytest.mark.parametrize(
    "path", ["/account/confirm", "/account/delete", "/reset", "/account/sessions/1/end", "/forgot", "/sign-in/passkey"]
)
def test_strangers_who_sign_in_take_no_thread_from_any_other_form(path: str) -> None:
    async def scene(server: Bridge, app: Application) -> None:
        begun = await fill(server, app, SIGN_IN, bridge.SIGN_IN_THREADS)
        late = sent(SIGN_IN, "203.0.113.1")
        status, problem = await late.run(server)
        assert (status, problem["type"]) == (503, "/problems/busy")
        assert dict(late.sent[0]["headers"])[b"retry-after"]
        own = sent(("POST", path), "192.0.2.1").begin(server)
        await asyncio.to_thread(app.busy.acquire)  # it has a thread
        app.may.set()
        assert {status for status, _ in await asyncio.gather(own, *begun)} == {200}

    play(scene, threads=1)


def test_one_client_has_a_turn_to_sign_in_and_waits_for_another() -> None:
    async def scene(server: Bridge, app: Application) -> None:
        begun = [sent(SIGN_IN, "192.0.2.1").begin(server) for _ in range(bridge.SIGN_INS_OF_CLIENT)]
        for _ in begun:
            await asyncio.to_thread(app.busy.acquire)
        assert (await sent(SIGN_IN, "192.0.2.1").run(server))[0] == 429
        app.may.set()
        assert {status for status, _ in await asyncio.gather(*begun)} == {200}

    play(scene)


def test_the_threads_for_hashes_are_as_many_as_may_have_or_await_a_turn() -> None:
    assert bridge.SIGN_IN_THREADS == password_hashes.AT_ONCE + password_hashes.WAITING
    assert bridge.SIGN_INS_OF_CLIENT == 2 * password_hashes.OF_CLIENT
    assert bridge.OWN_THREADS > password_hashes.OWN_AT_ONCE + password_hashes.OWN_WAITING


def test_what_finds_the_queue_full_is_refused_at_once_and_without_a_thread() -> None:
    async def scene(server: Bridge, app: Application) -> None:
        begun = await fill(server, app, ("POST", "/slow"), 2)
        begun += [sent(READ, f"203.0.113.{n}").begin(server) for n in range(bridge.QUEUED)]
        await asyncio.sleep(0)  # each task runs until it waits for its thread or its body
        late = sent(READ, "192.0.2.1")
        status, problem = await late.run(server)
        start, end = late.sent
        assert (status, problem["type"], end["more_body"]) == (503, "/problems/busy", False)
        assert int(dict(start["headers"])[b"retry-after"]) > 0
        app.may.set()
        assert {status for status, _ in await asyncio.gather(*begun)} == {200}
        assert await sent(READ, "192.0.2.1").run(server) == (200, b"done")

    play(scene, threads=2)


def test_one_client_leaves_places_in_the_queue_to_others() -> None:
    async def scene(server: Bridge, app: Application) -> None:
        begun = await fill(server, app, ("POST", "/slow"), 1)
        begun += [sent(READ, "192.0.2.1").begin(server) for _ in range(bridge.OF_CLIENT + 10)]
        waits = sent(READ, "192.0.2.2").begin(server)
        await asyncio.sleep(0)  # each task runs until it waits for its thread or its body
        app.may.set()
        statuses = [status for status, _ in await asyncio.gather(*begun)]
        assert (statuses.count(429), statuses.count(200)) == (10, bridge.OF_CLIENT + 1)
        assert await waits == (200, b"done")

    play(scene, threads=1)


def test_a_client_whose_long_bodies_trickle_delays_no_long_body_of_another() -> None:
    async def scene(server: Bridge, app: Application) -> None:
        app.may.set()
        server._long = LongBodies(patience=0.01)
        slow = [Client(READ, "192.0.2.1", [LONG]) for _ in range(bodies.PLACES + 2)]
        begun = [client.begin(server) for client in slow]
        done, waiting = await asyncio.wait(begun, timeout=None, return_when=asyncio.FIRST_COMPLETED)
        while len(waiting) > bodies.OF_NETWORK:
            more, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            done |= more
        assert {one.result()[0] for one in done} == {503}
        other = Client(READ, "192.0.2.2", [LONG])
        other.more.set()
        assert await other.run(server) == (200, b"done")
        for client in slow:
            client.more.set()
        assert {status for status, _ in await asyncio.gather(*waiting)} == {200}
        assert not server._long._each

    play(scene)


def test_long_bodies_of_many_clients_are_refused_when_all_places_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "GRACE", 600.0)

    async def scene(server: Bridge, app: Application) -> None:
        app.may.set()
        slow = [Client(READ, f"198.51.100.{n}", [LONG]) for n in range(STRANGERS_PLACES)]
        begun = [client.begin(server) for client in slow]
        await asyncio.sleep(0)  # each task runs until it waits for its thread or its body
        server._long._patience = 0.01
        late = Client(READ, "192.0.2.2", [LONG])
        status, problem = await late.run(server)
        assert (status, problem["type"]) == (503, "/problems/busy")
        for client in slow:
            client.more.set()
        assert {status for status, _ in await asyncio.gather(*begun)} == {200}

    play(scene)


async def crowd(server: Bridge) -> tuple[list[Client], list[Any]]:
    """Clients whose long bodies have begun, and have all the places of strangers."""
    slow = [Client(READ, f"198.51.100.{n}", [LONG]) for n in range(STRANGERS_PLACES)]
    begun = [client.begin(server) for client in slow]
    await asyncio.sleep(0)  # each task runs until it waits for its thread or its body
    return slow, begun


def test_a_body_that_trickles_is_ended_for_one_that_waits_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "GRACE", 0.0)
    monkeypatch.setattr(bodies, "JUDGED_EVERY", 0.01)

    async def scene(server: Bridge, app: Application) -> None:
        app.may.set()
        server._long._patience = 600.0
        slow, begun = await crowd(server)
        assert await long_body("192.0.2.2").run(server) == (200, b"done")
        ended = [one for one in begun if one.done()]
        assert [(status, body["detail"]) for status, body in (one.result() for one in ended)] == [
            (408, bridge.TOO_SLOW)
        ]
        for client in slow:
            client.more.set()
        assert sorted(status for status, _ in await asyncio.gather(*begun)) == [200] * (len(slow) - 1) + [408]

    play(scene)


def test_a_body_that_has_arrived_is_not_ended_however_long_its_answer_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "GRACE", 0.0)

    async def scene(server: Bridge, app: Application) -> None:
        server._long._patience = 0.01
        begun = [long_body(f"198.51.100.{n}").begin(server) for n in range(STRANGERS_PLACES)]
        for _ in begun:
            await asyncio.to_thread(app.busy.acquire)
        assert (await long_body("192.0.2.2").run(server))[0] == 503
        app.may.set()
        assert {status for status, _ in await asyncio.gather(*begun)} == {200}

    play(scene)


def test_a_body_whose_time_is_over_is_not_ended_again_while_its_refusal_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bridge, "BODY_SECONDS", 0.01)

    async def scene(server: Bridge, app: Application) -> None:
        slow = Client(READ, "192.0.2.1", [LONG])

        async def look(_: dict[str, Any]) -> None:
            arriving.append([one.is_arriving for one in server._long._anybodys._held])

        arriving: list[list[bool]] = []
        await server(slow.scope(), slow.receive, look)
        assert arriving[0] == [False]

    play(scene)


def test_who_is_known_has_places_that_strangers_cannot_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "GRACE", 600.0)

    async def scene(server: Bridge, app: Application) -> None:
        app.may.set()
        slow, begun = await crowd(server)
        server._long._patience = 0.01
        server._is_known = lambda environ: environ["REMOTE_ADDR"] == "192.0.2.9"
        assert (await long_body("192.0.2.2").run(server))[0] == 503
        assert await long_body("192.0.2.9").run(server) == (200, b"done")
        for client in slow:
            client.more.set()
        assert {status for status, _ in await asyncio.gather(*begun)} == {200}

    play(scene)


def test_the_served_application_knows_networks_and_the_tokens_that_were_good(web: Web) -> None:
    server = bridged(web.app)
    environ = EnvironBuilder(environ_base={"REMOTE_ADDR": "2001:db8:1:2::3"}).get_environ()
    assert server._network(environ) == "2001:db8:1::/48"
    assert not server._is_known(environ)
    token = web.token()
    environ["HTTP_AUTHORIZATION"] = token["Authorization"]
    assert not server._is_known(environ)
    assert web.client.get("/api/v1/me", headers=token).status_code == 200
    assert server._is_known(environ)


def test_every_form_that_hashes_a_password_has_the_threads_of_sign_ins(web: Web) -> None:
    found = set()
    for rule in web.app.url_map.iter_rules():
        view = inspect.unwrap(web.app.view_functions[rule.endpoint])
        if HASHES.search(inspect.getsource(view)):
            found.add(rule.rule)
            assert rule.methods is not None
            assert rule.methods <= {"POST", "OPTIONS"}, rule
    assert found == bridge.SIGN_IN_PATHS | bridge.OWN_PATHS  # and no other form has to wait with them
    assert found >= {"/sign-in/password", "/sign-up", "/reset", "/account/password", "/account/delete"}


@pytest.mark.parametrize(
    ("forwarded", "trusts", "client"),
    [
        ("203.0.113.9, 198.51.100.7", True, "198.51.100.7"),
        ("203.0.113.9, 198.51.100.7", False, "192.0.2.1"),
        ("2001:db8::1", True, "2001:db8::/64"),
        ("::ffff:198.51.100.7", True, "198.51.100.7"),
        ("198.51.100.7:4711", True, "198.51.100.7"),
        ("[2001:db8::1]:4711", True, "2001:db8::/64"),
        ("[2001:db8::1]", True, "2001:db8::/64"),
        ("nobody:4711", True, "unknown"),
        (None, True, "192.0.2.1"),
    ],
)
def test_the_share_is_that_of_the_address_which_the_application_sees(
    web: Web, forwarded: str | None, trusts: bool, client: str
) -> None:
    environ = EnvironBuilder(environ_base={"REMOTE_ADDR": "192.0.2.1"}).get_environ()
    if forwarded is not None:
        environ["HTTP_X_FORWARDED_FOR"] = forwarded
    before = dict(environ)
    assert client_of(environ, trusts_proxy=trusts) == client
    assert environ == before
    app: Callable[..., Any] = behind_proxy(web.app.wsgi_app) if trusts else web.app.wsgi_app
    seen: list[str] = []
    web.app.before_request_funcs.setdefault(None, []).append(lambda: seen.append(household(request.remote_addr or "")))
    Response.from_app(app, environ)
    assert seen == [client]
