"""A receiver of webhooks on this machine, which a test scripts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

#: One request as (headers, body) -> its status; it may take as long as it likes.
Answer = Callable[[dict[str, str], bytes], int]


@dataclass
class Receiver:
    """answers: to the requests in their order, the last one to all others; got: what came, before it was answered."""

    answers: list[Answer]
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    url: str = ""

    def answer(self, headers: dict[str, str], body: bytes) -> int:
        self.got.append((headers, body))
        return (self.answers.pop(0) if len(self.answers) > 1 else self.answers[0])(headers, body)


def status(code: int) -> Answer:
    """Always this answer."""
    return lambda *_: code


@contextmanager
def receiving(*answers: Answer) -> Iterator[Receiver]:
    """Serve until the end of the block."""
    receiver = Receiver([*answers])

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            code = receiver.answer({name.lower(): value for name, value in self.headers.items()}, body)
            self.send_response(code)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Be silent."""

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:  # the worker was killed, or did not wait
                return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    receiver.url = f"http://127.0.0.1:{server.server_port}/hook"
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
