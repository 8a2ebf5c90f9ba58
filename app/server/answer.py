"""One answer of the WSGI application, produced in pieces by whichever thread is free."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from app.exchanges import EXCHANGE, Exchange
from app.origins import entered

#: Size of a piece of a long answer; a shorter answer is one piece.
PIECE_BYTES = 65_536
EVENTS = b"text/event-stream"

Wsgi = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
Piece = tuple[bytes, bool]


class HttpAnswer:
    """Used by one thread at a time.  Between two pieces no thread uses it, and no transaction is open."""

    def __init__(self, app: Wsgi, environ: dict[str, Any]) -> None:
        self._app, self._environ = app, environ
        self._body: Iterable[bytes] = ()
        self._chunks: Iterator[bytes] = iter(())
        self._is_closed = False
        self.status = 500
        self.headers: list[tuple[bytes, bytes]] = []
        self.is_events = False

    def begin(self) -> Piece:
        """Run the application; the first piece comes with the headers."""
        self._body = self._app(self._environ, self._start_response)
        self._chunks = iter(self._body)
        return self.piece()

    def piece(self) -> Piece:
        """The next piece, and whether more may follow.  After the last one the answer is closed."""
        exchange: Exchange | None = self._environ.get(EXCHANGE)
        if exchange is None:
            return self._gathered()
        with entered(exchange.origin):
            return self._gathered()

    def _gathered(self) -> Piece:
        gathered: list[bytes] = []
        size = 0
        for chunk in self._chunks:
            gathered.append(chunk)
            size += len(chunk)
            if self.is_events or size >= PIECE_BYTES:
                return b"".join(gathered), True
        self.close()
        return b"".join(gathered), False

    def close(self) -> None:
        """Let the application release the answer's resources; once."""
        if not self._is_closed:
            self._is_closed = True
            if (close := getattr(self._body, "close", None)) is not None:
                close()

    def _start_response(
        self, status: str, headers: list[tuple[str, str]], exc_info: object = None
    ) -> Callable[[bytes], None]:
        del exc_info  # Flask raises if the answer has begun
        self.status = int(status[:3])
        self.headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        self.is_events = any(name == b"content-type" and value.startswith(EVENTS) for name, value in self.headers)
        return _no_write


def _no_write(_: bytes) -> None:
    raise RuntimeError("PEP 3333's write() is not supported: return an iterable")
