"""Children of ours: each in a session and a sandbox of its own, under limits, and dead with its parent.

They are made by a launcher (sandbox/launcher.py), which this process starts once.  Made from here they would begin as
copies of a process that holds secrets, and cost more the larger it is.
"""

import array
import atexit
import contextlib
import os
import select
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Final

from testlist.sandbox import account
from testlist.sandbox.process import NoSandbox, Order, Process

ROOT: Final = Path(__file__).resolve().parents[2]
#: what a launcher runs; without runpy and site, which take a third of an interpreter's start
BEGIN: Final = "from testlist.sandbox.launcher import main; main()"
#: seconds a child may take to show that it got into its sandbox
PATIENCE: Final = 60.0
#: seconds a launcher has to go by itself
FAREWELL: Final = 2.0


class _Launcher:
    """The launcher of this process."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control = ours
        with theirs:
            self.process = subprocess.Popen(
                # -P: the directory we happen to be in must not supply modules
                [sys.executable, "-P", "-S", "-s", "-c", BEGIN],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                env={
                    "PATH": os.defpath,
                    "LC_ALL": "C.UTF-8",
                    "PYTHONPATH": os.pathsep.join(places()),
                    "PYTHONHASHSEED": "0",
                },
                cwd="/",
                start_new_session=True,
            )

    def ask(self, needs: Sequence[str], descriptors: Sequence[int]) -> None:
        """Have a child made.  Raises: OSError when the launcher is gone."""
        passed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
        self.control.sendmsg([" ".join(needs).encode()], passed, socket.MSG_NOSIGNAL)

    def close(self) -> None:
        """End it and its children."""
        self.control.close()
        try:
            self.process.wait(FAREWELL)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def forget(self) -> None:
        """Leave it to the process it belongs to: this one is a copy of that."""
        self.control.close()
        self.process.returncode = 0  # no child of ours; nobody is to wait for it


class _Here:
    """The state of this process.  sandbox: whether children are put under one."""

    lock = threading.Lock()
    launcher: _Launcher | None = None
    sandbox = True

    @classmethod
    def ask(cls, needs: Sequence[str], descriptors: Sequence[int]) -> None:
        """Have a child made by the launcher, or a new one if somebody killed that."""
        with cls.lock:
            if cls.launcher is None:
                cls.launcher = _Launcher()
            try:
                cls.launcher.ask(needs, descriptors)
            except OSError:
                cls.launcher.close()
                cls.launcher = _Launcher()
                cls.launcher.ask(needs, descriptors)

    @classmethod
    def forked(cls) -> None:
        """Forget what a parent had."""
        cls.lock = threading.Lock()
        if cls.launcher is not None:
            cls.launcher.forget()
        cls.launcher = None


os.register_at_fork(after_in_child=_Here.forked)


@atexit.register
def close() -> None:
    """End the launcher of this process with all of its children; the next one that is asked for is new."""
    with _Here.lock:
        launcher, _Here.launcher = _Here.launcher, None
    if launcher is not None:
        launcher.close()


def ready() -> None:
    """Start the launcher early, as its interpreter takes a moment."""
    with _Here.lock:
        _Here.launcher = _Here.launcher or _Launcher()


def use_sandbox(*, on: bool) -> None:
    """Say whether children of this process get a sandbox.  Off is for machines that have none."""
    _Here.sandbox = on


def check() -> None:
    """Put one child of each kind under its sandbox.  Raises: NoSandbox when that fails, unless it is switched off."""
    if not _Here.sandbox:
        return
    if sys.platform != "linux":
        raise NoSandbox("it needs Linux")
    for order, needs in ((Order(["/bin/false"]), ("git",)), (Order(), ("parse",))):
        process = guarded(order, needs)
        process.stdin.close()
        process.ended(PATIENCE)
        end(process)


def hand_over(*paths: Path) -> None:
    """Give files of ours to the user that children have when we are root."""
    if account.is_root() and _Here.sandbox:
        for path in paths:
            os.chown(path, account.NUMBER, account.NUMBER)


def guarded(order: Order, needs: Sequence[str], *, errors: bool = False) -> Process:
    """Start a child.  needs: its kind, `git` or `parse`, and what a parser imports.  errors: also a pipe for stderr."""
    ours, theirs = socket.socketpair()
    with theirs, contextlib.ExitStack() as undo:
        undo.callback(ours.close)
        pairs = [os.pipe() for _ in range(3 if errors else 2)]
        given = [pairs[0][0], *(pair[1] for pair in pairs[1:])]
        kept = [pairs[0][1], *(pair[0] for pair in pairs[1:])]
        nowhere = [] if errors else [os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)]
        streams = [os.fdopen(kept[0], "wb", 0), *(os.fdopen(one, "rb", 0) for one in kept[1:])]
        for stream in streams:
            undo.callback(stream.close)
        try:
            _Here.ask(needs, [*given, *nowhere, theirs.fileno()])
        finally:
            for descriptor in (*given, *nowhere):
                os.close(descriptor)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it is dead; whoever reads it will see
            ours.sendall(order.line(sandbox=_Here.sandbox))
        undo.pop_all()
    return Process(ours, streams[0], streams[1], streams[2] if errors else None)


def program(name: str) -> str:
    """The whole path of a program.  Raises: FileNotFoundError."""
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(name)
    return str(Path(found).absolute())


def end(process: Process, *, grace: float = 0.0) -> int:
    """Kill a child with everything it started, close its pipes and reap it.

    grace: seconds to let a child leave by itself whose output has ended.  Returns the exit code.
    Raises: NoSandbox when it was never begun.
    """
    if grace and _ended(process.stdout):
        process.ended(grace)
    process.kill()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    return process.wait()


def _ended(stream: IO[bytes]) -> bool:
    """Whether the other side has closed the pipe."""
    if stream.closed:
        return True
    poll = select.poll()
    poll.register(stream.fileno(), 0)  # hang-up is always reported
    return any(event & select.POLLHUP for _, event in poll.poll(0))


@cache
def places() -> list[str]:
    """Where a launcher finds its modules: this program and the grammars."""
    grammars = find_spec("tree_sitter")
    installed = [] if grammars is None or grammars.origin is None else [str(Path(grammars.origin).parents[1])]
    return [str(ROOT), *installed]
