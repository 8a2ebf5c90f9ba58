"""A Git host that answers whatever a test wants: any pack, any references."""

import gzip
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from threading import Thread

from testlist_harness.githost import Quiet


@dataclass
class Answers:
    """head: the commit it says to have; commits, blobs: the packs it answers with."""

    head: str
    commits: bytes
    blobs: bytes = b""
    references: Callable[[], Iterator[bytes]] = field(default=lambda: iter(()))
    squeeze: bytes = b""  # what it begins with, compressed


def line(data: bytes) -> bytes:
    return b"%04x" % (len(data) + 4) + data


class PackHost(BaseHTTPRequestHandler):
    """Protocol version 2, as far as a fetch needs it."""

    answers: Answers

    def do_GET(self) -> None:
        if self.answers.squeeze:
            self.begin("application/x-git-upload-pack-advertisement", encoding="gzip")
            self.wfile.write(self.answers.squeeze)
            return
        self.begin("application/x-git-upload-pack-advertisement")
        able = (b"version 2\n", b"agent=x\n", b"ls-refs=unborn\n", b"fetch=shallow filter\n", b"object-format=sha1\n")
        self.wfile.write(line(b"# service=git-upload-pack\n") + b"0000" + b"".join(map(line, able)) + b"0000")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        body = gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body
        self.begin("application/x-git-upload-pack-result")
        head = self.answers.head.encode()
        if b"command=ls-refs" in body:
            for reference in self.answers.references():
                self.wfile.write(line(reference))
            self.wfile.write(line(head + b" HEAD symref-target:refs/heads/main\n") + line(head + b" refs/heads/main\n"))
            self.wfile.write(b"0000")
            return
        if b"deepen" in body:
            self.wfile.write(line(b"shallow-info\n") + b"0001")
        self.wfile.write(line(b"packfile\n"))
        pack = self.answers.commits if b"deepen" in body else self.answers.blobs
        for start in range(0, len(pack), 60_000):
            self.wfile.write(line(b"\1" + pack[start : start + 60_000]))
        self.wfile.write(b"0000")

    def begin(self, kind: str, *, encoding: str = "") -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        if encoding:
            self.send_header("Content-Encoding", encoding)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def answering(answers: Answers) -> Iterator[str]:
    """Serve: yields the address of the repository."""
    handler = type("Handler", (PackHost,), {"answers": answers})
    with Quiet(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/repo"
        finally:
            server.shutdown()
            thread.join()
