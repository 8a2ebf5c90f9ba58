"""A small process that outlives a killed `fairlane up` just long enough to end what it left behind."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterable
from contextlib import suppress

from app import processes

# After a kill -9 the children got SIGTERM from the kernel and need time to end: at most the grace
PATIENCE_SECONDS = 10.0
POLL_SECONDS = 0.1


class Guard:
    """The supervisor's side: it sends the guard the sessions of its children after each change."""

    def __init__(self, *, grace: float) -> None:
        """Start the guard.

        grace: seconds that it leaves the children after our sudden end, at most 10.  `mark` is in the environment of
        every child, and so of its descendants.
        """
        self._patience = min(grace, PATIENCE_SECONDS)
        self.mark = f"FAIRLANE_UP={secrets.token_hex(8)}"
        self._process = self._start()

    def watch(self, sessions: Iterable[int]) -> None:
        """Replace the sessions; a guard that was killed is started again."""
        line = " ".join(map(str, sessions)).encode() + b"\n"
        try:
            self._tell(line)
        except BrokenPipeError:
            self._process.wait()
            self._process = self._start()
            self._tell(line)

    def release(self, sessions: Collection[int]) -> None:
        """Kill the rest of our children, then let the guard end."""
        kill(processes.survivors(sessions, self.mark))
        with suppress(BrokenPipeError):
            self._tell(b"\n")
        self._process.communicate()

    def _tell(self, line: bytes) -> None:
        assert self._process.stdin is not None  # noqa: S101 - it was opened as a pipe
        self._process.stdin.write(line)
        self._process.stdin.flush()

    def _start(self) -> subprocess.Popen[bytes]:
        quiet = subprocess.DEVNULL  # readers of our output must see its end when we are gone
        argv = [sys.executable, "-m", "app.supervisor.guard", self.mark, str(self._patience)]
        return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, start_new_session=True)


def kill(pids: Iterable[int]) -> None:
    """Kill each process that is still running."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def main(mark: str, patience: float) -> None:
    """Wait for the end of the input, which comes with the supervisor's, then end the survivors."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # a service manager signals the whole group; the supervisor ends us
    sessions: set[int] = set()
    for line in sys.stdin.buffer:
        if line.endswith(b"\n"):  # ignore a line that was being written when the supervisor died
            sessions = set(map(int, line.split()))
    deadline = time.monotonic() + patience
    while (left := processes.survivors(sessions, mark)) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    while left:
        kill(left)
        time.sleep(POLL_SECONDS)
        left = processes.survivors(sessions, mark)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
