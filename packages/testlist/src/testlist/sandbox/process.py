"""A child process, as its parent sees it: its order, its pipes, and its end."""

import contextlib
import json
import select
import signal
import socket
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import IO, Final

#: exit code of a child that could not be put under its sandbox
FAILED: Final = 126


class NoSandbox(RuntimeError):  # noqa: N818 - a fact about this machine
    """No sandbox can be had here; the message says why, in one line."""


@dataclass(frozen=True, slots=True)
class Order:
    """What a child is and may do.

    argv: its first word is the whole path of a program; empty for a parser.  limits: RLIMIT_* -> value, in the unit of
    setrlimit.  folder: where it works, the only place it may change, if `writes`; reads: what else it may read.  Both
    without links in their paths.  ports: of hosts it may reach over TCP; datagrams: see seccomp.  certificates: where
    those of authorities are, beyond the usual places.  seconds: a parser's time for one file.
    """

    argv: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[int, int] = field(default_factory=dict)
    folder: str | None = None
    writes: bool = False
    reads: Sequence[str] = ()
    ports: Sequence[int] = ()
    datagrams: bool = False
    certificates: Sequence[str] = ()
    seconds: float = 0.0

    def line(self, *, sandbox: bool) -> bytes:
        """The line in the form in which the child reads it."""
        words = asdict(self) | {"limits": list(self.limits.items()), "sandbox": sandbox}
        return json.dumps(words).encode() + b"\n"


@dataclass(slots=True)
class Process:
    """A child and its three pipes."""

    channel: socket.socket
    stdin: IO[bytes]
    stdout: IO[bytes]
    stderr: IO[bytes] | None
    report: bytes = b""
    code: int | None = None
    seconds: float = 0.0  # of processors, that it took; known at its end

    @property
    def errors(self) -> IO[bytes]:
        """Its stderr.  Raises: ValueError when it was started without."""
        if self.stderr is None:
            raise ValueError("the process was started without this pipe")
        return self.stderr

    @property
    def pid(self) -> int:
        """Its number.  Waits until it is known."""
        while b"=" not in self.report and self._listen():
            pass
        return int(self._said(b"=") or 0)

    def ended(self, seconds: float) -> bool:
        """Whether it has ended; waits so long for it."""
        while self._said(b".") is None:
            ready, _, _ = select.select([self.channel], [], [], seconds)
            if not ready or not self._listen():
                break
        return self._said(b".") is not None

    def kill(self) -> None:
        """End it and everything it started."""
        with contextlib.suppress(OSError):
            self.channel.shutdown(socket.SHUT_WR)

    def wait(self) -> int:
        """The exit code, negative for a signal, when it has ended.  Raises: NoSandbox when it was never begun."""
        if self.code is None:
            while self._listen():
                pass
            self.channel.close()
            said = self._said(b".")
            # without a word the launcher is gone, and took it along
            code, seconds = (-signal.SIGKILL, 0.0) if said is None else said.split()
            self.code, self.seconds = int(code), float(seconds)
        if self.code == FAILED and (reason := self._said(b"!")) is not None:
            raise NoSandbox(reason.decode("utf-8", "replace"))
        return self.code

    def _listen(self) -> bool:
        try:
            data = self.channel.recv(4_096)
        except ConnectionResetError:  # it ended with its order unread
            data = b""
        self.report += data
        return bool(data)

    def _said(self, sign: bytes) -> bytes | None:
        lines = self.report.split(b"\n")[:-1]
        return next((line[1:] for line in lines if line.startswith(sign)), None)
