"""`python -m testlist_harness.escapes PLACE`: try each way out of a sandbox and print what became of it.

Run by itself it is its own victim: it holds a secret, has files, a port and sockets, and the attempts go for these.
"""

import errno
import json
import os
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from testlist.sandbox import child, launcher

from testlist_harness.ways import ATTEMPTS, Here, Victim


def outcome(way: Callable[[], object]) -> str:
    """`out`, or how it was kept in."""
    try:
        way()
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, "?")
    except BaseException as error:
        return repr(error)
    return "out"


def parsing(name: str, *, sandbox: bool) -> str:
    """Try one way in a child as the launcher makes it, in place of reading a file."""
    pairs = [os.pipe(), os.pipe()]
    ours, theirs = socket.socketpair()
    ours.sendall(json.dumps({"limits": [], "sandbox": sandbox, "seconds": 9}).encode() + b"\n")
    pid = os.fork()
    if not pid:
        child.serve = lambda _, answers, __: answers.write(outcome(ATTEMPTS[name]).encode())
        nowhere = os.open(os.devnull, os.O_WRONLY)
        launcher.begin(["parse"], [pairs[0][0], pairs[1][1], nowhere], theirs, Here.victim.pid, 0)
    for descriptor in (*pairs[0], pairs[1][1]):
        os.close(descriptor)
    with os.fdopen(pairs[1][0]) as answers:
        said = answers.read()
    _, status = os.waitpid(pid, 0)
    theirs.close()
    with ours:
        failed = ours.recv(4_096) if os.WIFEXITED(status) and os.WEXITSTATUS(status) == launcher.FAILED else b""
    return f"broken {failed!r}" if failed else said or ("out" if not status else f"status {status}")


def one_by_one() -> dict[str, str]:
    """Try every way in a copy of this process, as a git that was taken over could."""
    found = {}
    for name, way in ATTEMPTS.items():
        reading, writing = os.pipe()
        pid = os.fork()
        if not pid:
            os.set_inheritable(writing, False)  # of what is run instead only the status is known
            os.write(writing, outcome(way).encode())
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as answers:
            said = answers.read()
        _, status = os.waitpid(pid, 0)
        found[name] = said or ("out" if not status else f"status {status}")
    return found


def main(place: str) -> None:
    if place == "git":  # in its sandbox: the victim is the process that started this one's launcher
        told = json.loads(os.environ["VICTIM"])
        Here.victim = object.__new__(Victim)
        for name, value in told.items():
            setattr(Here.victim, name, Path(value) if name in ("folder", "secret", "plain", "link", "empty") else value)
        print(json.dumps(one_by_one()))
        return
    with tempfile.TemporaryDirectory(prefix="canary-") as folder:
        Here.victim = Victim(Path(folder))
        os.environ["DATABASE_URL"] = "postgresql://canary"
        names = list(ATTEMPTS)
        print(json.dumps({name: parsing(name, sandbox=place == "parser") for name in names}))
        Here.victim.close()
    for left in (*Path("/tmp").glob(f"canary-{os.getpid()}-*"), *Path("/dev/shm").glob(f"canary-{os.getpid()}-*")):
        left.unlink()


if __name__ == "__main__":
    main(sys.argv[1])
