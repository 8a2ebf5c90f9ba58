"""A Git host on this machine: smart HTTP over `git http-backend`, and hosts that misbehave."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread


class GitHost(BaseHTTPRequestHandler):
    """Serves the repositories below `root`."""

    root: Path
    stall: Event | None = None  # set to answer nothing until the test is over
    location: str | None = None  # redirect there
    password: str | None = None  # Authorization header to ask for
    seen: list[str]

    def do_GET(self) -> None:
        self.answer(b"")

    def do_POST(self) -> None:
        self.answer(
            self.rfile.read(int(self.headers["Content-Length"] or 0))
            if "Content-Length" in self.headers
            else self.chunks()
        )

    def chunks(self) -> bytes:
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def answer(self, body: bytes) -> None:
        self.seen.append(self.path)
        if self.stall is not None:
            self.stall.wait(60)
            return
        if self.location is not None:
            self.send_response(302)
            self.send_header("Location", self.location + self.path)
            self.end_headers()
            return
        if self.password is not None and self.headers["Authorization"] != self.password:
            self.send_response(401)
            self.send_header("WWW-Authenticate", "Basic realm=x")
            self.end_headers()
            return
        self.relay(self.backend(body))

    def backend(self, body: bytes) -> bytes:
        path, _, query = self.path.partition("?")
        env = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers["Content-Type"] or "",
            "CONTENT_LENGTH": str(len(body)),
            "GIT_PROTOCOL": self.headers["Git-Protocol"] or "",
            "HTTP_CONTENT_ENCODING": self.headers["Content-Encoding"] or "",
        }
        settings = {"uploadpack.allowFilter": "true", "uploadpack.allowAnySHA1InWant": "true", "safe.directory": "*"}
        env["GIT_CONFIG_COUNT"] = str(len(settings))
        for number, (key, value) in enumerate(settings.items()):
            env |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        return subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True, check=False).stdout

    def relay(self, answer: bytes) -> None:
        head, _, body = answer.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(headers.pop("Status", "200").split()[0]))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class Quiet(ThreadingHTTPServer):
    """A client that hangs up is what these tests are about, and no news."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        pass


@contextmanager
def serving(root: Path, **behaviour: object) -> Iterator[str]:
    """Serve the repositories below root: yields the address."""
    handler = type("Handler", (GitHost,), {"root": root, "seen": [], **behaviour})
    with Quiet(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
