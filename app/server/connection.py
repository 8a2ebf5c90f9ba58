"""One connection: gunicorn's protocol, with a limit to every wait for the client."""

from __future__ import annotations

import asyncio
from typing import Any

from gunicorn.asgi.protocol import ASGIProtocol

from app.server.environ import Scope

#: A client that receives nothing of its answer for this long is cut off.
STALL_SECONDS = 30.0
#: After a refusal, the client's data is read for this long; otherwise the refusal would be lost with the connection.
LINGER_SECONDS = 2.0


class Connection(ASGIProtocol):  # type: ignore[misc]  # gunicorn has no types
    """Waits with a deadline for the head of a request, for the client to read, and for the end."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin; gunicorn alone would wait for ever for a new connection's first head."""
        self._stalled: asyncio.TimerHandle | None = None
        self._closing: asyncio.TimerHandle | None = None
        self._discards = self._has_ended = False
        self._scope: Scope = {}  # of the last request
        self.has_begun = False  # a part of the next request has come, but not all of it
        self.worker.make_room()
        self.worker.open.add(self)
        self.worker.connections.inc()
        super().connection_made(transport)
        self._arm_keepalive_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is lost."""
        self.worker.connections.dec()
        self.worker.open.discard(self)
        self.worker.waiting.pop(self, None)
        self._reads_again()
        if self._closing is not None:
            self._closing.cancel()
        super().connection_lost(exc)

    def give_up(self) -> None:
        """Stop waiting for a request; what is left of the last answer is still sent."""
        if self.transport.get_write_buffer_size():
            super()._keepalive_timeout()
        else:
            self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Data has arrived."""
        if not self._discards:
            super().data_received(data)

    def eof_received(self) -> bool:
        """The client will send nothing more.  Returns: whether it still gets an answer."""
        self._has_ended = True
        return not self._discards and self not in self.worker.waiting

    def pause_writing(self) -> None:
        """The client does not read what was sent."""
        super().pause_writing()
        if self._stalled is None:
            self._stalled = self.worker.loop.call_later(STALL_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """The client reads again."""
        self._reads_again()
        super().resume_writing()

    def _reads_again(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def _arm_keepalive_timer(self) -> None:
        """Wait for a request; of the waiting connections, the longest-waiting is closed first if there are too many."""
        super()._arm_keepalive_timer()
        self.worker.waiting[self] = None
        if self._has_ended:
            self.worker.loop.call_soon(self._keepalive_timeout)

    def _keepalive_timeout(self) -> None:
        """Close; a client that began a head is told why, one that sent nothing is not."""
        if self._request_ready.is_set():  # a whole head came with the very turn of the loop that ends the time
            return
        if self.has_begun and not self._closed:
            self._send_error_response(408, f"The head of the request did not arrive within {self.cfg.keepalive} s.")
        super()._keepalive_timeout()

    def _feed_callback_parser(self, data: bytes) -> bool:
        began, self.has_begun = self.has_begun, self.has_begun or self._current_request is None
        try:
            found = bool(super()._feed_callback_parser(data))
        except ValueError as error:
            if "integer string conversion" not in str(error):
                raise
            # a length of thousands of digits, which Python makes no number of
            self._send_error_response(400, "A number of the request is too long.")
            self._close_transport()
            return False
        if self.has_begun and not began and self._current_request is None:
            super()._arm_keepalive_timer()  # a head has its own time, however long the client was idle before
        return found

    def _on_headers_complete(self) -> Any:
        """Wait for the body as well: of a request that was sent behind another one, nothing was waited for before."""
        self.worker.waiting.setdefault(self, None)
        if self._has_ended:
            self.worker.loop.call_soon(self._end_if_it_waits)
        return super()._on_headers_complete()

    def _end_if_it_waits(self) -> None:
        if self in self.worker.waiting:
            self._close_transport()

    def _on_message_complete(self) -> None:
        self.worker.waiting.pop(self, None)
        self.has_begun = False
        super()._on_message_complete()

    def _build_http_scope(self, *of_request: Any) -> Scope:
        self._scope = super()._build_http_scope(*of_request)
        return self._scope

    def _close_transport(self) -> None:
        """Close; pending data has a limited time to be sent."""
        if self._closed or self.transport is None:
            return
        loop, receiver = self.worker.loop, self._body_receiver
        self._closing = loop.call_later(STALL_SECONDS, self.transport.abort)
        if receiver is None or receiver._complete or self.transport.is_closing():  # noqa: SLF001 - as gunicorn itself asks
            super()._close_transport()
            return
        # closing with unread bytes in the socket resets it, and the client may never see its answer
        self._closed: bool = True
        self._discards = True
        self._resume_reading()
        self.transport.write_eof()
        loop.call_later(LINGER_SECONDS, self.transport.close)

    def _send_error_response(self, status: int, message: str, extra_headers: Any = ()) -> None:
        """Answer anything other than HTTP with a problem, like every other error, and count it as one."""
        body, headers = self.app.refuse(status, message[:200], self._scope)
        named = [
            *headers,
            *((name.encode(), value.encode()) for name, value in extra_headers),
            (b"connection", b"close"),
        ]
        lines = [f"HTTP/1.1 {status} {self._get_reason_phrase(status)}".encode()]
        lines += [name + b": " + value for name, value in named]
        self._safe_write(b"\r\n".join(lines) + b"\r\n\r\n" + body)

    def _is_websocket_upgrade(self, _request: object) -> bool:
        return False
