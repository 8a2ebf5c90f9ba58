"""Rules every child process of ours starts under: its own session, limits, and death with its parent."""

import contextlib
import ctypes
import os
import resource
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any

PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38

# loaded before any fork: the hook below runs between fork and exec.  Elsewhere than on Linux there is
# no such call; limits and process groups still hold there
_prctl: Callable[..., int] | None = getattr(ctypes.CDLL(None), "prctl", None)

#: util-linux's way to the same two calls.  None where it is not installed.
_PRLIMIT, _SETPRIV = shutil.which("prlimit"), shutil.which("setpriv")
_FLAGS = {
    resource.RLIMIT_AS: "--as",
    resource.RLIMIT_CORE: "--core",
    resource.RLIMIT_CPU: "--cpu",
    resource.RLIMIT_FSIZE: "--fsize",
}


def guarded(
    argv: Sequence[str], limits: Mapping[int, int], farewell: signal.Signals = signal.SIGKILL, **options: Any
) -> "subprocess.Popen[bytes]":
    """Start a child in a session of its own, under limits.  options: of Popen.

    limits: RLIMIT_* -> value, in the unit of setrlimit.  farewell: sent to it when the thread that starts it ends.
    A hook between fork and exec would do, but it copies our page tables first: 17 ms in a process of 150 MB, and it is
    unsafe beside other threads.  Two small programs in between cost 2 ms.  Raises: FileNotFoundError.
    """
    if shutil.which(argv[0]) is None:
        raise FileNotFoundError(argv[0])
    bounds = {name: _bound(name, value) for name, value in limits.items()}
    options |= {"start_new_session": True}
    if _PRLIMIT is None or _SETPRIV is None:
        return subprocess.Popen(list(argv), preexec_fn=_hook(bounds, farewell), **options)  # noqa: PLW1509 - no other way
    flags = [f"{_FLAGS[name]}={bound}:{bound}" for name, bound in bounds.items()]
    ends_with_us = [_SETPRIV, "--pdeathsig", farewell.name, "--no-new-privs", "--"]
    return subprocess.Popen([_PRLIMIT, *flags, "--", *ends_with_us, *argv], **options)


def _bound(name: int, value: int) -> int:
    hard = resource.getrlimit(name)[1]
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def _hook(bounds: Mapping[int, int], farewell: int) -> Callable[[], None]:
    parent = os.getpid()

    def prepare() -> None:
        if _prctl is not None:
            _prctl(PR_SET_PDEATHSIG, farewell, 0, 0, 0)
            _prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            if os.getppid() != parent:  # the parent died before the request above took hold
                os._exit(1)
        for name, bound in bounds.items():
            resource.setrlimit(name, (bound, bound))

    return prepare


def pipe(stream: IO[bytes] | None) -> IO[bytes]:
    """One end of a pipe that a process was started with."""
    if stream is None:
        raise ValueError("the process was started without this pipe")
    return stream


def end(process: "subprocess.Popen[bytes]", *, grace: float = 0.0) -> int:
    """Kill a child with everything it started, close its pipes and reap it.  Needs start_new_session.

    grace: seconds to let a child leave by itself whose output has ended.  Returns the exit code.
    """
    deadline = time.monotonic() + (grace if _ended(process.stdout) else 0.0)
    while not _exited(process) and time.monotonic() < deadline:
        time.sleep(0.001)  # polled: reaping here would free the group's id before the kill below
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    return process.wait()


def _exited(process: "subprocess.Popen[bytes]") -> bool:
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None


def _ended(stream: IO[bytes] | None) -> bool:
    """Whether the other side has closed the pipe."""
    if stream is None or stream.closed:
        return True
    poll = select.poll()
    poll.register(stream.fileno(), 0)  # hang-up is always reported
    return any(event & select.POLLHUP for _, event in poll.poll(0))
