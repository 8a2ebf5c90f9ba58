"""One program of the process tree: started, read, restarted when it dies, ended with everything that it started."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from app.supervisor.output import LINE_BYTES, Lines, Output

BACKOFF_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0, 10.0)
HEALTHY_SECONDS = 60.0  # a child that lived this long is restarted without the delays of earlier deaths
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


@dataclass(frozen=True, slots=True)
class Child:
    """The program to run.

    env: added to ours; ready: says whether it serves (OSError: not yet), None: it serves as soon as it has started.
    """

    name: str
    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    ready: Callable[[], bool] | None = None


class Running:
    """The life of one child, including its restarts."""

    def __init__(self, child: Child, output: Output, mark: str) -> None:
        self.child = child
        self.is_ready = False
        self.started_once = False
        self.due_at = 0.0  # when to start it; monotonic seconds
        self.pid: int | None = None  # it leads its session and its group; None while it does not run
        self.descriptor: int | None = None  # where its output is read from
        self._output, self._mark, self._lines = output, mark, Lines()
        self._process: subprocess.Popen[bytes] | None = None
        self._started_at, self._deaths = 0.0, 0

    def start(self, now: float) -> None:
        """Start the program; a missing program counts as one that died at once."""
        parent, mark = os.getpid(), self._mark.partition("=")
        self.started_once = True
        self._started_at = now
        try:
            self._process = subprocess.Popen(
                list(self.child.argv),
                env={**os.environ, **self.child.env, mark[0]: mark[2]},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=None if LIBC is None else lambda: _follow(parent),  # noqa: PLW1509 - we have one thread
            )
        except OSError as error:
            self._output.say("child_not_started", child=self.child.name, reason=error.strerror)
            self._delay(now)
            return
        self.pid, self.descriptor = self._process.pid, self._process.stdout.fileno()  # type: ignore[union-attr]
        os.set_blocking(self.descriptor, False)

    def check_ready(self) -> bool:
        """Check again whether it serves."""
        if not self.is_ready and self.pid is not None:
            with suppress(OSError):
                self.is_ready = self.child.ready is None or self.child.ready()
        return self.is_ready

    def hear(self) -> bool:
        """Pass the child's output on; False when that is closed."""
        try:
            data = os.read(self.descriptor or -1, LINE_BYTES)
        except BlockingIOError:
            return True
        for line in self._lines.feed(data):
            self._output.line(self.child.name, line)
        return bool(data)

    def has_ended(self) -> bool:
        """Whether the process has ended; it is not reaped, so that its pid stays its own."""
        return self.pid is not None and bool(os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT))

    def bury(self, now: float, *, again: bool) -> None:
        """Kill the rest of its group, reap it, and note when to start it again."""
        if self._process is None or self._process.stdout is None:
            return
        self.kill()
        self.hear()  # one read takes all that a pipe can hold
        for line in self._lines.close():
            self._output.line(self.child.name, line)
        code = self._process.wait()
        self._process.stdout.close()
        self._process = self.pid = self.descriptor = None
        if again:
            self._output.say("child_ended", child=self.child.name, code=code, again_in_seconds=self._delay(now))

    def signal(self, number: signal.Signals) -> None:
        """Signal the process alone, because it ends its own children in its own order."""
        if self.pid is not None:
            os.kill(self.pid, number)  # not send_signal(), which would reap it

    def kill(self) -> None:
        """Kill the child's whole process group."""
        with suppress(ProcessLookupError):
            if self.pid is not None:
                os.killpg(self.pid, signal.SIGKILL)

    def _delay(self, now: float) -> float:
        self._deaths = 0 if now - self._started_at > HEALTHY_SECONDS else self._deaths
        delay = BACKOFF_SECONDS[min(self._deaths, len(BACKOFF_SECONDS) - 1)]
        self._deaths, self.due_at = self._deaths + 1, now + delay
        return delay


def _follow(parent: int) -> None:
    """Let the kernel send SIGTERM when the supervisor dies, however it dies."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)  # type: ignore[union-attr]  # only called where it is there
    if os.getppid() != parent:  # it died before this call
        os._exit(1)
