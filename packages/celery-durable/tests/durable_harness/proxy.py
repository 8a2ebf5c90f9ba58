"""A proxy in front of a PostgreSQL server: it speaks TLS for it, swallows one of its answers, or falls silent."""

import asyncio
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from durable_harness.waiting import PATIENCE_SECONDS

#: What libpq asks before anything else, after the length: for TLS, for Kerberos.
SSL_REQUEST, GSS_REQUEST = (80877103).to_bytes(4, "big"), (80877104).to_bytes(4, "big")

Reader, Writer = asyncio.StreamReader, asyncio.StreamWriter


@dataclass
class Link:
    """One client and its session of the server."""

    client: Writer
    server: Writer
    swallows: bool = False
    is_ripe: bool = False


class Proxy:
    """On 127.0.0.1, in a thread of its own, until `close`.  With a certificate it takes only clients that ask for TLS."""

    def __init__(self, server_port: int, tls: ssl.SSLContext | None = None) -> None:
        self.port = 0
        self.swallowed = threading.Event()
        self.withheld = threading.Event()
        self._speaks = asyncio.Event()
        self._speaks.set()
        self._server_port, self._tls = server_port, tls
        self._word: bytes | None = None
        self._after = b""
        self._ends_session = self._reaches_server = True
        self._meanwhile: Callable[[], object] = dict
        self._tasks: set[Any] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def start(self) -> None:
        self._thread.start()
        listening = asyncio.start_server(self._greet, "127.0.0.1", 0)
        self._listener = asyncio.run_coroutine_threadsafe(listening, self._loop).result(PATIENCE_SECONDS)
        self.port = self._listener.sockets[0].getsockname()[1]

    def close(self) -> None:
        async def end() -> None:
            self._listener.close()
            for task in list(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(end(), self._loop).result(PATIENCE_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def swallow(
        self,
        word: str,
        *,
        after: str = "",
        ends_session: bool = True,
        reaches_server: bool = True,
        meanwhile: Callable[[], object] = dict,
    ) -> None:
        """Pass the next request that holds the word on, keep its answer, and cut the client off then.

        after: only in a session that has sent this before; ends_session: the server learns of it at once, otherwise its
        session stays open, as after a broken cable; reaches_server: otherwise the request itself is lost; meanwhile: is
        called when the answer is kept, before the client can notice.
        """
        self.swallowed.clear()
        self._ends_session, self._reaches_server, self._after = ends_session, reaches_server, after.encode()
        self._meanwhile = meanwhile
        self._word = word.encode()

    def freeze(self) -> None:
        """Accept whatever is sent and whoever comes, and say nothing.  `withheld` is set when somebody waits for it."""
        self.withheld.clear()
        self._loop.call_soon_threadsafe(self._speaks.clear)

    def thaw(self) -> None:
        """Pass on what was withheld, and all that follows."""
        self._loop.call_soon_threadsafe(self._speaks.set)

    async def _pass(self) -> None:
        if not self._speaks.is_set():
            self.withheld.set()
            await self._speaks.wait()

    async def _greet(self, reader: Reader, writer: Writer) -> None:
        task = asyncio.current_task()
        self._tasks.add(task)
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            if self._tls is None or await self._begin_tls(reader, writer):
                await self._serve(reader, writer)
        writer.transport.abort()
        self._tasks.discard(task)

    async def _begin_tls(self, reader: Reader, writer: Writer) -> bool:
        while (asked := (await reader.readexactly(8))[4:]) == GSS_REQUEST:
            writer.write(b"N")
        if asked != SSL_REQUEST:
            return False
        writer.write(b"S")
        await writer.start_tls(self._tls)
        return True

    async def _serve(self, reader: Reader, writer: Writer) -> None:
        answers, server = await asyncio.open_connection("127.0.0.1", self._server_port)
        link = Link(writer, server)
        try:
            await asyncio.wait(
                [asyncio.ensure_future(self._ask(reader, link)), asyncio.ensure_future(self._answer(answers, link))],
                return_when=asyncio.FIRST_COMPLETED,
            )
            if link.swallows and not self._ends_session:
                writer.transport.abort()
                await asyncio.Event().wait()
        finally:
            server.transport.abort()

    async def _ask(self, reader: Reader, link: Link) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                link.is_ripe = self._word is not None and (link.is_ripe or self._after in data)
                if self._word is not None and link.is_ripe and self._word in data:
                    self._word, link.swallows = None, True
                    if not self._reaches_server:
                        self.swallowed.set()
                        return
                await self._pass()
                link.server.write(data)

    async def _answer(self, reader: Reader, link: Link) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                if link.swallows:
                    await asyncio.to_thread(self._meanwhile)
                    self.swallowed.set()
                    return
                await self._pass()
                link.client.write(data)
