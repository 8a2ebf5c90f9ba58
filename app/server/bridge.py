"""Between gunicorn's event loop and the application: whole requests in, pieces of answers out.

A thread is taken when a request has arrived completely, and again for each piece that the client is ready to receive.
So a client that sends or reads slowly occupies a socket and some memory, but no thread.  Nothing is patched inside a
thread: psycopg2 blocks, and a transaction begins and ends in one call of the application.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from typing import Any

from app.server.answer import Answer, Piece, Wsgi
from app.server.environ import Scope, content_length, environ
from app.server.refusal import problem_bytes

THREADS = 32
#: Threads for live streams, which wait most of the time: as many as a process opens (app/web/job_streams.py).
STREAM_THREADS = 256
#: A health check must not have to wait behind the work of the process.
HEALTH_PATHS = frozenset({"/healthz", "/readyz"})
HEALTH_THREADS = 2
BODY_SECONDS = 30.0
#: Only a few longer bodies are received at once, so that they cannot fill the memory.
LARGE_BYTES = 65_536
MOST_LARGE = 32

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class Bridge:
    """An ASGI application that runs a WSGI application.  Its threads start with the first request, after the fork."""

    def __init__(self, app: Wsgi, *, longest_body: int, threads: int = THREADS) -> None:
        self._app, self._longest = app, longest_body
        self._work = ThreadPoolExecutor(threads, "request")
        self._streams = ThreadPoolExecutor(STREAM_THREADS, "stream")
        self._health = ThreadPoolExecutor(HEALTH_THREADS, "health")
        self._large = asyncio.Semaphore(MOST_LARGE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        async with AsyncExitStack() as held:
            try:
                async with asyncio.timeout(BODY_SECONDS):
                    body = await self._read(scope, receive, held)
            except TimeoutError:
                await _refuse(send, 408, f"The body did not arrive within {BODY_SECONDS:.0f} s.")
                return
            if body is None:  # the client has gone, or sent something other than HTTP and has been told so
                return
            answer = Answer(self._app, environ(scope, body))
            pool = self._health if scope["path"] in HEALTH_PATHS else self._work
            piece = await self._run(pool, answer.begin, answer)
        await self._deliver(answer, piece, send)

    async def _read(self, scope: Scope, receive: Receive, held: AsyncExitStack) -> bytes | None:
        """The whole body; of one that is too long, only enough for the application to see that and refuse it."""
        if (content_length(scope) or 0) > self._longest:
            return b""
        chunks: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            chunks.append(message.get("body", b""))
            size, before = size + len(chunks[-1]), size
            if before <= LARGE_BYTES < size:
                await held.enter_async_context(self._large)
            if size >= self._longest or not message.get("more_body"):
                return b"".join(chunks)[: self._longest]

    async def _deliver(self, answer: Answer, piece: Piece, send: Send) -> None:
        await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
        pool = self._streams if answer.is_events else self._work
        data, more = piece
        while more:
            try:
                await send({"type": "http.response.body", "body": data, "more_body": True})  # waits for a slow reader
            except asyncio.CancelledError:
                self._work.submit(answer.close)
                raise
            data, more = await self._run(pool, answer.piece, answer)
        await send({"type": "http.response.body", "body": data, "more_body": False})

    @staticmethod
    async def _run(pool: ThreadPoolExecutor, step: Callable[[], Piece], answer: Answer) -> Piece:
        """Produce a piece of the answer in a thread.

        If the client goes, the piece is finished, and then the answer closes.
        """
        future = pool.submit(step)
        try:
            return await asyncio.wrap_future(future)
        except BaseException:
            future.add_done_callback(lambda _: answer.close())
            raise


async def _refuse(send: Send, status: int, detail: str) -> None:
    body, headers = problem_bytes(status, detail)
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
