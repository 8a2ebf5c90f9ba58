"""Lines of the log that each request writes: a thread makes them and writes them, several at once.

So the event loop never waits for whoever reads the log.  And a line among others takes a tenth of the time that it
takes alone, in the middle of other work: two lines of each accept took 4 % of its time (docs/adr/0084).
"""

from __future__ import annotations

import atexit
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from time import time
from types import SimpleNamespace
from typing import Any, TextIO

import structlog

from app import origins
from app.origins import Origin

#: How long a line waits for others; a process that is killed loses as much.
SECONDS = 0.5
#: Lines that may wait while nobody reads the log.
MOST = 10_000

#: Of a line; a function makes them when the line is written.
LineFacts = Mapping[str, Any] | Callable[[], Mapping[str, Any]]


class LogWriter:
    """Keeps lines until its thread writes them.  After a fork, each process needs its own.  stream: None: stderr."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._waiting = deque[tuple[float, Origin | None, str, str, LineFacts]]()
        self._dropped = 0
        self._some, self._end = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def put(self, logger: str, event: str, facts: LineFacts, at: float | None = None) -> None:
        """Write a line soon, for the present origin.  at: when it happened, in seconds since 1970; None: now."""
        if len(self._waiting) >= MOST:
            self._dropped += 1
            return
        self._waiting.append((time() if at is None else at, origins.current(), logger, event, facts))
        if not self._some.is_set():
            self._some.set()

    def close(self) -> None:
        """Write what waits, and nothing more."""
        self._end.set()
        self._some.set()
        self._thread.join(1.0)

    def _run(self) -> None:
        while not self._end.is_set():
            self._some.wait()
            self._end.wait(SECONDS)
            self._some.clear()
            self._write()
        self._write()

    def _write(self) -> None:
        processors = structlog.get_config()["processors"]
        lines, missed, lost = list[str](), self._dropped, 0
        for _ in range(len(self._waiting)):
            waiting = self._waiting.popleft()
            try:
                lines.append(_line(processors, *waiting))
            except Exception:  # noqa: BLE001 - one line that cannot be made must not end all others
                lost += 1
        if dropped := missed + lost:
            lines.append(_line(processors, time(), None, __name__, "lines_dropped", {"lines": dropped}))
        if not lines:
            return
        stream = self._stream or sys.stderr
        try:
            stream.write("\n".join([*lines, ""]))
            stream.flush()
        except (OSError, ValueError):  # a full disk, a reader that has gone: said when it takes lines again
            self._dropped += lost + len(lines) - bool(dropped)
        else:
            self._dropped -= missed


def _line(
    processors: Sequence[Any], at: float, origin: Origin | None, logger: str, event: str, facts: LineFacts
) -> str:
    line: Any = {**(facts() if callable(facts) else facts), "event": event}
    line["timestamp"] = _stamp(at)
    origins.enter(origin)
    for process in processors:
        line = process(_named(logger), "info", line)
    return str(line)


def _stamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")


@cache
def _named(logger: str) -> Any:
    """What a processor of structlog wants to know of a logger."""
    return SimpleNamespace(name=logger)


_writer: LogWriter | None = None


def start() -> None:
    """Write the frequent lines of this process by a thread from now on."""
    global _writer  # noqa: PLW0603 - of the process
    _writer = LogWriter()


def write(logger: str, event: str, facts: LineFacts, at: float | None = None) -> None:
    """Write a line: soon, if this process writes many.  at: when it happened, in seconds since 1970; None: now."""
    if _writer is not None:
        _writer.put(logger, event, facts, at)
    else:
        stamp = {} if at is None else {"timestamp": _stamp(at)}
        structlog.get_logger(logger).info(event, **stamp, **(facts() if callable(facts) else facts))
