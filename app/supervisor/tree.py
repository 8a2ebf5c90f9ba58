"""The process tree of `fairlane up`: all children run until a signal, and none outlives it."""

from __future__ import annotations

import fcntl
import json
import os
import selectors
import signal
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import ClassVar

from app import json_lines
from app.errors import Conflict, Problem
from app.private_files import open_private
from app.processes import alive
from app.supervisor.child import Child, Running
from app.supervisor.guard import Guard
from app.supervisor.output import Output

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
HURRY = 2  # signals
HURRY_SECONDS = 5.0
READY_POLL_SECONDS = 0.05
WATCH_SECONDS = 2.0
IDLE_SECONDS = 60.0
HOLD_SECONDS = 10.0  # how long the others wait for the first child, which needs the processors to itself to serve soon
READY_SECONDS = 60.0  # how long it is not said that the first child serves because others are not ready


class AlreadyRunning(Conflict):
    """`fairlane up` already runs for this home; extensions: its pid and url."""

    title: ClassVar[str] = "Fairlane already runs for this home"


@contextmanager
def alone(home: Path, url: str) -> Iterator[None]:
    """Be the only `fairlane up` of the home.  The lock ends with the process, however that ends.

    Raises: AlreadyRunning.
    """
    with open_private(home / "up.lock") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise _running(lock.read(), home) from None
        lock.truncate(0)
        lock.write(json.dumps({"pid": os.getpid(), "url": url}) + "\n")
        lock.flush()
        yield
        lock.truncate(0)


def address(home: Path) -> str | None:
    """The URL of the `fairlane up` that runs for this home, if there is one."""
    try:
        facts = json.loads((home / "up.lock").read_text(encoding="utf-8"))
        return str(facts["url"]) if alive(int(facts["pid"])) else None  # a killed one leaves its line
    except (OSError, ValueError, KeyError):  # none was ever started, or the last one has ended
        return None


def run(
    children: Sequence[Child],
    *,
    on_ready: Callable[[], None],
    grace: float,
    watch: Callable[[], None] | None = None,
) -> int:
    """Run the children until SIGTERM, SIGINT or SIGHUP; call in the main thread of a process without other threads.

    The children start in order, and the others wait until the first one serves.  A child that ends is started again,
    later each time.  The first signal asks each child to end (SIGTERM), the second to hurry (SIGQUIT); the third, or
    the end of `grace`, kills.  on_ready: called once, when all are ready; after a minute, when the first one is, and
    the others that are not are named.  grace: seconds.  watch: called every 2 s; a Problem is reported, and the call
    repeated.
    Returns: the exit code: 0, or 1 if a child had to be killed.
    """
    output = Output(max(len(child.name) for child in children), as_json=json_lines.are_wanted())
    guard = Guard(grace=grace)
    tree = _Tree([Running(child, output, guard.mark) for child in children], guard, output)
    try:
        with _signals() as (received, wake):
            tree.run(received, wake, on_ready=on_ready, watch=watch)
            return tree.stop(received, wake, grace=grace)
    finally:
        tree.kill()


class _Tree:
    """All children, and the one loop that handles them."""

    def __init__(self, members: Sequence[Running], guard: Guard, output: Output) -> None:
        self._members, self._guard, self._output = members, guard, output
        self._selector = selectors.DefaultSelector()
        self._hold_until = time.monotonic() + HOLD_SECONDS
        self._ready_by = time.monotonic() + READY_SECONDS

    def run(
        self,
        received: list[int],
        wake: socket.socket,
        *,
        on_ready: Callable[[], None] | None,
        watch: Callable[[], None] | None,
    ) -> None:
        """Keep all children running until a signal."""
        self._selector.register(wake, selectors.EVENT_READ)
        watch_at = time.monotonic() + WATCH_SECONDS
        while not received:
            self._start_due()
            if on_ready is not None and self._are_ready():
                on_ready()
                on_ready = None
            if watch is not None and time.monotonic() >= watch_at:
                self._watch(watch)
                watch_at = time.monotonic() + WATCH_SECONDS
            dues = [member.due_at for member in self._members if member.pid is None and member.started_once]
            wait = min([IDLE_SECONDS if watch is None else WATCH_SECONDS, *(due - time.monotonic() for due in dues)])
            self._serve(wake, min(wait, READY_POLL_SECONDS) if on_ready else wait, again=True)

    def stop(self, received: list[int], wake: socket.socket, *, grace: float) -> int:
        """End all children.  Returns: the exit code."""
        answered, now = 1, time.monotonic()
        deadline = now + grace
        self._output.say("stopping", grace_seconds=grace)
        self._signal(signal.SIGTERM)
        while any(member.pid for member in self._members):
            if len(received) > answered:
                answered = len(received)
                deadline = min(deadline, time.monotonic() + (HURRY_SECONDS if answered == HURRY else 0))
                self._signal(signal.SIGQUIT)
            left = deadline - time.monotonic()
            self._serve(wake, left, again=False)  # also those that have ended while this process stood still
            if left <= 0 and (alive := [member.child.name for member in self._members if member.pid]):
                self._output.say("killing", children=alive)
                return 1
        return 0

    def kill(self) -> None:
        """Kill what still runs, with everything that it started."""
        sessions = [member.pid for member in self._members if member.pid]
        for member in self._members:
            member.kill()
        self._guard.release(sessions)
        for member in self._members:
            member.bury(time.monotonic(), again=False)
        self._selector.close()

    def _serve(self, wake: socket.socket, seconds: float, *, again: bool) -> None:
        """Wait for output, a signal or the time; then pass output on and reap ended children."""
        for key, _ in self._selector.select(max(seconds, 0)):
            if key.fileobj is wake:
                with suppress(BlockingIOError):
                    wake.recv(4096)
            elif not key.data.hear():
                self._selector.unregister(key.fileobj)  # it closed its output, but may still run
        for member in self._members:
            if member.has_ended():
                self._forget(member)
                member.bury(time.monotonic(), again=again)
                self._tell_guard()

    def _start_due(self) -> None:
        now = time.monotonic()
        for member in self._members:
            if not member.started_once and now < self._hold_until and self._is_held(member):
                return
            if member.pid is None and member.due_at <= now:
                member.start(now)
                if member.descriptor is not None:
                    self._selector.register(member.descriptor, selectors.EVENT_READ, member)
                self._tell_guard()

    def _is_held(self, member: Running) -> bool:
        """Whether the child waits for the first one, which does not serve yet."""
        first = self._members[0]
        return member is not first and first.child.ready is not None and not first.is_ready

    def _are_ready(self) -> bool:
        """Whether all children are ready; late, only the first one has to be, and the others are named."""
        missing = [member for member in self._members if not member.check_ready()]
        if missing and (missing[0] is self._members[0] or time.monotonic() < self._ready_by):
            return False
        if missing:
            self._output.say("not_ready", children=[member.child.name for member in missing])
        return True

    def _forget(self, member: Running) -> None:
        with suppress(KeyError):  # it had closed its output before it ended
            if member.descriptor is not None:
                self._selector.unregister(member.descriptor)

    def _tell_guard(self) -> None:
        self._guard.watch(member.pid for member in self._members if member.pid)

    def _signal(self, number: signal.Signals) -> None:
        for member in self._members:
            member.signal(number)

    def _watch(self, watch: Callable[[], None]) -> None:
        try:
            watch()
        except Problem as problem:
            self._output.say("watch_failed", reason=problem.detail)


@contextmanager
def _signals() -> Iterator[tuple[list[int], socket.socket]]:
    """Collect stop signals in a list; the socket becomes readable with each signal, and with each child that ends."""
    received: list[int] = []
    wake, waker = socket.socketpair()
    wake.setblocking(False)
    waker.setblocking(False)
    before = {number: signal.signal(number, lambda got, _: received.append(got)) for number in STOP_SIGNALS}
    before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda *_: None)
    old = signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
    try:
        yield received, wake
    finally:
        signal.set_wakeup_fd(old)
        for number, handler in before.items():
            signal.signal(number, handler)
        wake.close()
        waker.close()


def _running(text: str, home: Path) -> AlreadyRunning:
    try:
        facts = json.loads(text)
    except ValueError:  # between its lock and its line
        facts = {}
    who = f" as process {facts['pid']} at {facts['url']}" if facts else ""
    return AlreadyRunning(f"`fairlane up` already runs for {home}{who}: stop it first, or set FAIRLANE_HOME", **facts)
