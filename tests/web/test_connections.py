"""Connections of the server's process, on the event loop: what is sent, awaited and closed."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from gunicorn.config import Config
from gunicorn.glogging import Logger

from app import process_metrics
from app.exchanges import Exchange
from app.server import bodies, bridge, config, connection
from app.server.answer import PIECE_BYTES
from app.server.bridge import Bridge
from app.server.connection import Connection
from app.server.worker import IDLE_SECONDS, SPARE_SECONDS, Worker
from tests.web.test_bridge import Client

#: More than a socket with little room takes, less than the transport's buffer is long.
SIZE, ROOM = 60_000, 4096
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n%s\r\n"
POST = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n"


def sized(size: int) -> Callable[..., Iterable[bytes]]:
    def app(_: object, start: Callable[..., object]) -> Iterable[bytes]:
        start("200 OK", [("content-type", "text/plain"), ("content-length", str(size))])
        return [b"x" * size]

    return app


@dataclass
class Process:
    """A worker that serves on this loop.  told: an exchange for each request that is over."""

    worker: Worker
    port: int
    told: asyncio.Queue[Exchange] = field(default_factory=asyncio.Queue)

    @property
    def only(self) -> Connection:
        [found] = self.worker.open
        return found

    @asynccontextmanager
    async def connected(self, limit: int = 1) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        """A client that takes little at a time."""
        one = socket.socket()
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, ROOM)
        one.setblocking(False)
        await asyncio.get_running_loop().sock_connect(one, ("127.0.0.1", self.port))
        reader, writer = await asyncio.open_connection(sock=one, limit=limit)
        try:
            yield reader, writer
        finally:
            writer.close()


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - the server under test tells nobody
            await asyncio.sleep(0.01)  # between two looks; never instead of one


def serve(scene: Callable[[Process], Awaitable[None]], app: Callable[..., Iterable[bytes]]) -> None:
    async def main() -> None:
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, ROOM)
        listening.bind(("127.0.0.1", 0))
        worker = Worker.__new__(Worker)
        worker.cfg = Config()
        for name in ("keepalive", "asgi_disconnect_grace_period", "graceful_timeout"):
            worker.cfg.set(name, getattr(config, name))
        worker.log, worker.loop, worker.connections = (
            Logger(worker.cfg),
            asyncio.get_running_loop(),
            process_metrics.connections,
        )
        worker.open, worker.waiting, worker.servers = set(), {}, []
        worker.nr_conns, worker.nr, worker.max_requests, worker.worker_connections = 0, 0, sys.maxsize, 4000
        worker.alive = True
        process = Process(worker, listening.getsockname()[1])
        worker.asgi = Bridge(
            app, longest_body=1000, client=lambda _: "192.0.2.1", observers=[process.told.put_nowait], drain_seconds=1
        )
        async with await worker.loop.create_server(lambda: Connection(worker), sock=listening):
            async with asyncio.timeout(60):
                await scene(process)
            for one in list(worker.open):
                one.transport.abort()
            await until(lambda: not worker.open)

    asyncio.run(main())


def test_what_is_left_of_an_answer_is_sent_when_its_connection_is_given_up() -> None:
    async def scene(process: Process) -> None:
        async with process.connected() as (reader, writer):
            writer.write(GET % b"")
            await process.told.get()
            await until(lambda: process.only in process.worker.waiting)
            assert process.only.transport.get_write_buffer_size() > 0
            process.worker._close_idle()
            answer = await reader.read()
            assert len(answer.partition(b"\r\n\r\n")[2]) == SIZE

    serve(scene, sized(SIZE))


def test_a_connection_that_has_closed_is_not_closed_again_later() -> None:
    async def scene(process: Process) -> None:
        async with process.connected() as (reader, writer):
            writer.write(GET % b"Connection: close\r\n")
            await until(lambda: process.worker.open)
            served = process.only
            assert len((await reader.read()).partition(b"\r\n\r\n")[2]) == SIZE
            await until(lambda: not process.worker.open)
            assert served._closing is not None
            assert served._closing.cancelled()

    serve(scene, sized(SIZE))


@pytest.mark.parametrize("ends", [False, True], ids=["stays", "sends no more"])
def test_the_body_of_a_request_that_was_sent_behind_another_one_is_waited_for_like_any_other(*, ends: bool) -> None:
    async def scene(process: Process) -> None:
        async with process.connected(limit=SIZE) as (reader, writer):
            writer.write(GET % b"" + POST)
            if ends:
                writer.write_eof()
            await process.told.get()
            await reader.readuntil(b"done")
            if ends:
                async with asyncio.timeout(15):  # a body may take thirty seconds
                    assert await reader.read() == b""
            else:
                await until(lambda: process.only in process.worker.waiting)
                assert process.only.has_begun

    def app(_: object, start: Callable[..., object]) -> Iterable[bytes]:
        start("200 OK", [("content-length", "4")])
        return [b"done"]

    serve(scene, app)


def test_a_head_has_its_own_time_however_long_the_client_was_idle_before() -> None:
    async def scene(process: Process) -> None:
        async with process.connected() as (_, writer):
            await until(lambda: process.worker.open)
            idle = process.only._keepalive_handle
            writer.write(GET[:10])
            await until(lambda: process.only.has_begun)
            served, came = process.only, list[bytes]()
            begun, feed = served._keepalive_handle, served.data_received

            def noted(data: bytes) -> None:
                feed(data)
                came.append(data)

            assert idle.cancelled()
            served.data_received = noted  # type: ignore[method-assign]  # the transport calls what stands there
            writer.write(GET[10:20])
            await until(lambda: came)
            assert served._keepalive_handle is begun

    serve(scene, sized(1))


def test_a_request_that_came_with_the_end_of_its_time_is_answered() -> None:
    async def scene(process: Process) -> None:
        async with process.connected() as (reader, writer):
            await until(lambda: process.worker.open)
            served = process.only
            feed = served.data_received

            def late(data: bytes) -> None:
                feed(data)
                served._keepalive_timeout()  # which the loop calls before the connection's task

            served.data_received = late  # type: ignore[method-assign]  # the transport calls what stands there
            writer.write(GET % b"Connection: close\r\n")
            assert b"200 OK" in await reader.read()

    serve(scene, sized(1))


def test_what_has_begun_is_ended_before_the_main_process_would_kill_everything() -> None:
    async def scene(process: Process) -> None:
        later = list[tuple[float, Callable[[], None]]]()
        async with process.connected() as (reader, writer):
            writer.write(POST + b"{")
            await until(lambda: process.worker.open and process.only.has_begun)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(process.worker.loop, "call_later", lambda delay, act: later.append((delay, act)))
                process.worker._stop_listening()
            (idle, close_idle), (begun, close_all) = later
            assert (idle, begun) == (IDLE_SECONDS, config.graceful_timeout - 1 - SPARE_SECONDS)
            close_idle()
            assert not process.only.transport.is_closing()
            close_all()
            assert await reader.read() == b""

    serve(scene, sized(1))


@dataclass
class Swallowing(Client):
    """Loses the cancellation that meets a message, as `asyncio.wait_for` of Python 3.11 does; then it says no more."""

    async def receive(self) -> dict[str, Any]:
        try:
            await asyncio.sleep(3600)  # until it is cancelled
        except asyncio.CancelledError:
            return {"type": "http.request", "body": b"x", "more_body": True}
        raise AssertionError("nobody cancelled it")


def test_a_body_whose_time_is_over_ends_though_the_cancellation_was_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridge, "BODY_SECONDS", 0.01)

    async def scene() -> None:
        server = Bridge(sized(1), longest_body=1000, client=lambda _: "192.0.2.1")
        async with asyncio.timeout(60):
            assert (await Swallowing(("POST", "/")).run(server))[0] == 408

    asyncio.run(scene())


def test_a_place_whose_time_is_over_is_ended_once() -> None:
    async def scene() -> None:
        loop = asyncio.get_running_loop()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0) as limit:
                await asyncio.sleep(3600)  # until it is cancelled
        bodies.BodyPlace(limit, loop.time()).end(loop.time())

    asyncio.run(scene())


@pytest.mark.parametrize("size", [0, 1, PIECE_BYTES, PIECE_BYTES + 1, 1_000_000])
def test_a_long_answer_is_sent_in_parts_of_which_each_has_its_time(size: int) -> None:
    async def scene() -> None:
        client = Client(("GET", "/"))
        client.more.set()
        await client.run(Bridge(sized(size), longest_body=1000, client=lambda _: "192.0.2.1"))
        _, *parts = client.sent
        assert sum(len(one["body"]) for one in parts) == size
        assert max(len(one["body"]) for one in parts) <= PIECE_BYTES
        assert [one["more_body"] for one in parts] == [True] * (len(parts) - 1) + [False]

    asyncio.run(scene())


def test_a_stall_is_shorter_than_what_a_part_needs_of_a_slow_line() -> None:
    high, low = 65_536, 16_384  # of the transport's buffer: it stops above the one, and goes on below the other
    assert (high + PIECE_BYTES - low) / connection.STALL_SECONDS < 4_000  # bytes a second
