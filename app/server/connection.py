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
        self._discards = self._has_ended = False
        self._scope: Scope = {}  # of the last request
        self._head_began = False  # something came that is not a whole head yet
        self.worker.make_room()
        self.worker.connections.inc()
        super().connection_made(transport)
        self._arm_keepalive_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is lost."""
        self.worker.connections.dec()
        self.worker.waiting.pop(self, None)
        self._reads_again()
        super().connection_lost(exc)

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
        if self._head_began and not self._closed:
            self._send_error_response(408, f"The head of the request did not arrive within {self.cfg.keepalive} s.")
        super()._keepalive_timeout()

    def _feed_callback_parser(self, data: bytes) -> bool:
        self._head_began = self._head_began or self._current_request is None
        try:
            return bool(super()._feed_callback_parser(data))
        except ValueError as error:
            if "integer string conversion" not in str(error):
                raise
            # a length of thousands of digits, which Python makes no number of
            self._send_error_response(400, "A number of the request is too long.")
            self._close_transport()
            return False

    def _on_message_complete(self) -> None:
        self.worker.waiting.pop(self, None)
        self._head_began = False
        super()._on_message_complete()

    def _build_http_scope(self, *of_request: Any) -> Scope:
        self._scope = super()._build_http_scope(*of_request)
        return self._scope

    def _close_transport(self) -> None:
        """Close; pending data has a limited time to be sent."""
        if self._closed or self.transport is None:
            return
        loop, receiver = self.worker.loop, self._body_receiver
        loop.call_later(STALL_SECONDS, self.transport.abort)
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
