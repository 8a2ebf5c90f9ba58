"""Between gunicorn's event loop and the application: whole requests in, pieces of answers out.

A thread is taken when a request has arrived completely, and again for each piece that the client is ready to receive.
So a client that sends or reads slowly occupies a socket and some memory, but no thread.  If too many requests wait for
a thread, further ones are refused without one.  Nothing is patched inside a
thread: psycopg2 blocks, and a transaction begins and ends in one call of the application.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack, ExitStack
from http import HTTPStatus
from time import perf_counter
from typing import Any

import structlog

from app import telemetry
from app.errors import UNEXPECTED, Busy, TooManyRequests
from app.exchanges import EXCHANGE, Exchange, Observe, received, unread
from app.origins import entered
from app.server.answer import PIECE_BYTES, HttpAnswer, Piece, Wsgi
from app.server.bodies import LongBodies
from app.server.environ import Scope, content_length, environ, with_body
from app.server.pools import Pool
from app.server.refusal import Headers, problem_bytes, refused

THREADS = 32
#: Requests that may wait for a thread, and requests of one client that may run or wait.
QUEUED, OF_CLIENT = 256, 128
#: Threads for live streams, which wait most of the time: as many as a process opens (app/web/jobs/job_streams.py).
STREAM_THREADS = 256
#: A health check must not have to wait behind the work of the process.
READY_PATH = "/readyz"
#: Nor `/healthz` behind a database that is silent, for which `/readyz` waits: all processes would be ended for it.
HEALTH_THREADS = {"/healthz": 1, READY_PATH: 2}
#: Where anybody has a password hashed, which takes half a second and waits for its turn; and where only who is signed
#: in or has a link does (app/services/accounts/password_hashes.py).
SIGN_IN_PATHS = frozenset({"/sign-in/password", "/sign-up"})
OWN_PATHS = frozenset({"/reset", "/account/password", "/account/confirm", "/account/delete"})
#: As many as the turns and those who wait for one; further ones are refused at once and without a thread.
SIGN_IN_THREADS, SIGN_INS_OF_CLIENT = 6, 2
#: One more than those, which refuses at once: anybody may send these forms, and those of strangers hash nothing.
OWN_THREADS, OWN_QUEUED, OWN_OF_CLIENT = 4, 64, 8
BODY_SECONDS = 30.0
TOO_SLOW = f"The body did not arrive within {BODY_SECONDS:.0f} s, or too slowly while others waited."
STOPPING = "This process is stopping; it still answers what was sent to it."
LARGE_BYTES = 65_536

log = structlog.get_logger()

AsgiMessage = dict[str, Any]
Receive = Callable[[], Awaitable[AsgiMessage]]
Send = Callable[[AsgiMessage], Awaitable[None]]


class Bridge:
    """An ASGI application that runs a WSGI application.  Its threads start with the first request, after the fork.

    client, network: name the client of an environ and the network that it is in, which have a share of each limit;
    is_known: whether it carries a token that was good before; drain_seconds: how long a stopping process serves while
    it is not ready; end_streams: makes live streams end soon, when the process stops; observers: told of each request
    when it is over, refused ones included.
    """

    def __init__(
        self,
        app: Wsgi,
        *,
        longest_body: int,
        client: Callable[[dict[str, Any]], str],
        network: Callable[[dict[str, Any]], str] | None = None,
        is_known: Callable[[dict[str, Any]], bool] = lambda _: False,
        threads: int = THREADS,
        drain_seconds: float = 0.0,
        end_streams: Callable[[], None] = lambda: None,
        observers: Sequence[Observe] = (),
    ) -> None:
        self._app, self._longest, self._client, self._observers = app, longest_body, client, observers
        self._network, self._is_known = network or client, is_known
        self.drain_seconds, self.end_streams = drain_seconds, end_streams
        #: Set when the process gets the signal to stop; balancers then see that it is not ready.
        self.is_stopping = False
        self._work = Pool("request", threads, queued=QUEUED, of_client=OF_CLIENT)
        self._streams = Pool("stream", STREAM_THREADS, queued=0, of_client=STREAM_THREADS)
        self._health = {
            path: Pool(path.strip("/"), threads, queued=QUEUED, of_client=OF_CLIENT)
            for path, threads in HEALTH_THREADS.items()
        }
        self._sign_ins = Pool("sign-in", SIGN_IN_THREADS, queued=0, of_client=SIGN_INS_OF_CLIENT)
        self._own = Pool("own", OWN_THREADS, queued=OWN_QUEUED, of_client=OWN_OF_CLIENT)
        self._long = LongBodies()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, and tell the observers when everything was handed over, or the client has gone."""
        began, given = perf_counter(), environ(scope)
        exchange = scope[EXCHANGE] = received(given)
        noting = _noting(send, exchange)
        _begin_span(exchange)
        try:
            await self._answer(scope, receive, noting, given, exchange)
        except Exception:  # of ours, as Flask answers its own
            if exchange.status is not None:  # the client sees that its answer has no end
                raise
            with entered(exchange.origin):
                log.exception("web.failed")
            await _send(noting, 500, *refused(UNEXPECTED, exchange))
        finally:
            del scope[EXCHANGE]
            exchange.seconds = perf_counter() - began
            self._tell(exchange)

    def refuse(self, status: int, detail: str, scope: Scope) -> tuple[bytes, Headers]:
        """Body and headers for what cannot be read as a request; the observers are told of it, once.

        scope: of the last request of the connection; it has an exchange while that one is being answered.
        """
        under_way: Exchange | None = scope.get(EXCHANGE)
        exchange = under_way or unread()
        body, headers = problem_bytes(status, detail, exchange)
        exchange.status, exchange.size, exchange.is_whole = status, len(body), True
        # gunicorn's 500 is for a call that ended without an answer, of which the observers know
        if under_way is None and status != HTTPStatus.INTERNAL_SERVER_ERROR:
            _begin_span(exchange)
            self._tell(exchange)
        return body, headers

    def _tell(self, exchange: Exchange) -> None:
        for observe in self._observers:
            observe(exchange)

    async def _answer(
        self, scope: Scope, receive: Receive, send: Send, given: dict[str, Any], exchange: Exchange
    ) -> None:
        client = self._client(given)
        async with AsyncExitStack() as held:
            try:
                async with asyncio.timeout(BODY_SECONDS) as limit:
                    body = await self._read(scope, receive, given, held, limit)
                if body is None:  # the client has gone, or sent something other than HTTP and has been told so
                    return
                if self.is_stopping and scope["path"] == READY_PATH:
                    await _send(send, 503, *problem_bytes(503, STOPPING, exchange))
                    return
                answer = HttpAnswer(self._app, with_body(given, body))
                future = self._pool(given).begin(client, answer.begin)
            except TimeoutError:
                await _send(send, 408, *problem_bytes(408, TOO_SLOW, exchange))
                return
            except (TooManyRequests, Busy) as problem:
                if given["REQUEST_METHOD"] == "POST" and given["PATH_INFO"] in SIGN_IN_PATHS | OWN_PATHS:
                    exchange.route = given["PATH_INFO"]  # other refusals may be submissions, and count as such
                await _send(send, problem.status, *refused(problem, exchange))
                return
            piece = await self._result(future, answer)
        await self._deliver(answer, piece, send)

    def _pool(self, given: dict[str, Any]) -> Pool:
        """The threads for a request, chosen by the path that the application will see."""
        path = given["PATH_INFO"]
        if path in self._health:
            return self._health[path]
        if given["REQUEST_METHOD"] != "POST":
            return self._work
        return self._sign_ins if path in SIGN_IN_PATHS else self._own if path in OWN_PATHS else self._work

    async def _read(
        self, scope: Scope, receive: Receive, given: dict[str, Any], held: AsyncExitStack, limit: asyncio.Timeout
    ) -> bytes | None:
        """The whole body; of one that is too long, only enough for the application to see that and refuse it.

        Raises: Busy.
        """
        if (content_length(scope) or 0) > self._longest:
            return b""
        chunks: list[bytes] = []
        size, place, clock = 0, None, asyncio.get_running_loop().time
        with ExitStack() as arriving:  # before `limit` is over, which a place must not change afterwards
            while True:
                message = await receive()
                if limit.expired():  # Python 3.11 loses a cancellation that meets a message
                    raise TimeoutError
                if message["type"] == "http.disconnect":
                    return None
                chunks.append(message.get("body", b""))
                size += len(chunks[-1])
                if place:
                    place.received(len(chunks[-1]), clock())
                elif size > LARGE_BYTES:
                    long = self._long.place(self._network(given), limit, is_known=self._is_known(given))
                    place = await held.enter_async_context(long)
                    arriving.callback(place.arrived)
                if size >= self._longest or not message.get("more_body"):
                    return b"".join(chunks)[: self._longest]

    async def _deliver(self, answer: HttpAnswer, piece: Piece, send: Send) -> None:
        await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
        pool = self._streams if answer.is_events else self._work
        data, more = piece
        while True:
            for part, follows in _parts(data, more=more):
                try:
                    # waits for a slow reader, who has its time again for each part
                    await send({"type": "http.response.body", "body": part, "more_body": follows})
                except asyncio.CancelledError:
                    self._work.finish(answer.close)
                    raise
            if not more:
                return
            data, more = await self._result(pool.go_on(answer.piece), answer)

    @staticmethod
    async def _result(future: Future[Piece], answer: HttpAnswer) -> Piece:
        """A piece of the answer, which a thread produces.

        If the client goes, the piece is finished, and then the answer closes.
        """
        try:
            return await asyncio.wrap_future(future)
        except BaseException:
            future.add_done_callback(lambda _: answer.close())
            raise


def _parts(data: bytes, *, more: bool) -> Iterator[Piece]:
    """A piece in parts that are no longer than PIECE_BYTES, each with whether more follows."""
    last = max(len(data) - 1, 0) // PIECE_BYTES * PIECE_BYTES
    for at in range(0, last, PIECE_BYTES):
        yield data[at : at + PIECE_BYTES], True
    yield data[last:], more


def _begin_span(exchange: Exchange) -> None:
    if telemetry.spans is not None:
        telemetry.spans.request_began(exchange)


def _noting(send: Send, exchange: Exchange) -> Send:
    """Send, and note what was handed over."""

    async def noting(message: AsgiMessage) -> None:
        await send(message)
        if "status" in message:
            exchange.status = message["status"]
        else:
            exchange.size += len(message["body"])
            exchange.is_whole = not message["more_body"]

    return noting


async def _send(send: Send, status: int, body: bytes, headers: Headers) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
