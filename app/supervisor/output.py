"""One standard output for many children: whole lines, each with its child's name, or JSON lines and nothing else."""

from __future__ import annotations

import os
import select
import time
from typing import Any

from app.json_lines import json_line

LINE_BYTES = 64 * 1024  # a longer line is split; this is also what a pipe can hold
CHUNK_BYTES = 4096  # a pipe that select() calls writable takes this much without blocking
PATIENCE_SECONDS = 1.0


class Output:
    """Where the lines are written.  as_json: write our own as JSON, and what a child writes that is no JSON object."""

    def __init__(self, width: int, *, as_json: bool, descriptor: int = 1) -> None:
        self._width, self._as_json, self._descriptor = width, as_json, descriptor
        self._lost_until = 0.0

    def say(self, event: str, **fields: Any) -> None:
        """Report an action of the supervisor itself."""
        if self._as_json:
            self._write(json_line(event, logger="app.supervisor", **fields))
        else:
            self.line("fairlane", " ".join([event, *(f"{name}={value}" for name, value in fields.items())]).encode())

    def line(self, name: str, line: bytes) -> None:
        """Write one line of a child."""
        if not self._as_json:
            self._write(f"{name:<{self._width}} | ".encode() + line + b"\n")
        elif line.startswith(b"{"):
            self._write(line + b"\n")
        elif line.strip():  # of a program that ended before it had a log, or of one that is not ours
            self._write(json_line(line.decode(errors="replace"), logger="app.supervisor", child=name))

    def _write(self, data: bytes) -> None:
        """Write, or drop the rest if nothing reads it: a paused terminal must stop neither the work nor its end."""
        for start in range(0, len(data), CHUNK_BYTES):
            patience = 0.0 if time.monotonic() < self._lost_until else PATIENCE_SECONDS
            try:
                if not select.select([], [self._descriptor], [], patience)[1]:
                    self._lost_until = time.monotonic() + PATIENCE_SECONDS
                    return
                os.write(self._descriptor, data[start : start + CHUNK_BYTES])
            except OSError:  # the reader is gone, or the descriptor is closed
                return


class Lines:
    """Cuts the bytes of one child into lines."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """Take bytes and return the lines that they complete."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > LINE_BYTES:
            lines.append(self._rest)
            self._rest = b""
        return lines

    def close(self) -> list[bytes]:
        """Return the last line, which had no end."""
        rest, self._rest = self._rest, b""
        return [rest] if rest else []
