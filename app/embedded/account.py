"""The user that PostgreSQL runs as: it refuses root, so root uses a service user, or else a user namespace."""

from __future__ import annotations

import logging
import os
import pwd
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypedDict

from app.embedded.binaries import EmbeddedUnavailable, Programs

SERVICE_USERS = ("postgres", "nobody")
# A user namespace without mappings: the kernel still sees root (so a home in /root stays readable), the program sees
# uid 65534.  It is a separate program, because code between fork and exec is not safe in a process with threads.
NAMESPACE = (
    sys.executable,
    "-ISc",
    """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x10000000):  # CLONE_NEWUSER
    sys.exit("unshare: " + os.strerror(ctypes.get_errno()))
os.execv(sys.argv[1], sys.argv[1:])
""",
)
# the caller's `PGDATA`, `PGPORT` and similar variables would change what the programs do
ENVIRONMENT = {"PATH": os.defpath, "LANG": "C", "LC_ALL": "C", "TZ": "UTC"}

log = logging.getLogger(__name__)


class _Switch(TypedDict, total=False):
    user: int
    group: int
    extra_groups: list[int]


@dataclass(frozen=True, slots=True)
class HostAccount:
    """The user of the server.  uid, gid: owner of its files; prefix: prepended to every command."""

    uid: int
    gid: int
    prefix: tuple[str, ...] = ()

    def spawn(self, argv: Sequence[str], *, cwd: Path, out: IO[bytes] | int) -> subprocess.Popen[bytes]:
        """Start a program as this user, in a session of its own, so that Ctrl-C in a terminal does not reach it."""
        return subprocess.Popen(
            [*self.prefix, *argv],
            cwd=cwd,
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            **self._switch(),
        )

    def run(self, argv: Sequence[str], *, cwd: Path, text: str = "") -> str:
        """Run a program to its end with `text` as its input.  Returns: its output.  Raises: EmbeddedUnavailable."""
        done = subprocess.run(
            [*self.prefix, *argv],
            cwd=cwd,
            env=ENVIRONMENT,
            input=text.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            check=False,
            **self._switch(),
        )
        said = done.stdout.decode(errors="replace").strip()
        if done.returncode != 0:
            raise EmbeddedUnavailable(f"{Path(argv[0]).name} failed ({done.returncode}): {said[-1000:]}")
        return said

    def own(self, tree: Path) -> None:
        """Give the files of a tree to this user; only root can do so, and has to."""
        if os.geteuid() != 0:
            return
        os.chown(tree, self.uid, self.gid)
        for folder, names, files in os.walk(tree):
            for name in (*names, *files):
                os.chown(Path(folder, name), self.uid, self.gid, follow_symlinks=False)

    def _switch(self) -> _Switch:
        if os.geteuid() == self.uid:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}


def choose(programs: Programs, home: Path, data: Path) -> HostAccount:
    """Choose the user: ourselves, or for root the owner of the data, a service user, or a user namespace.

    A user is suitable if it can run the programs and enter `home`.  Raises: EmbeddedUnavailable.
    """
    if os.geteuid() != 0:
        return HostAccount(os.geteuid(), os.getegid())
    for entry in _candidates(data):
        account = HostAccount(entry.pw_uid, entry.pw_gid)
        if _can_serve(account, programs, home):
            return account
    inside = HostAccount(0, 0, NAMESPACE)
    if _can_serve(inside, programs, home):
        # a superuser of this database could write files as the real root; the service's own role is not one
        log.debug("postgres_user_namespace", extra={"home": str(home)})
        return inside
    raise EmbeddedUnavailable(
        f"PostgreSQL does not run as root, no user of {', '.join(SERVICE_USERS)} can both run {programs.folder} and"
        f" enter {home}, and user namespaces are off: run as an ordinary user, or choose another FAIRLANE_HOME, or"
        " set DATABASE_URL"
    )


def _candidates(data: Path) -> Iterator[pwd.struct_passwd]:
    if data.exists() and (owner := data.stat().st_uid) != 0:
        yield from (entry for entry in pwd.getpwall() if entry.pw_uid == owner)
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    yield from (names[name] for name in SERVICE_USERS if name in names and names[name].pw_uid != 0)


def _can_serve(account: HostAccount, programs: Programs, home: Path) -> bool:
    attempt = 'cd "$0" && "$1" --version && exec "$2" --version'
    try:
        account.run(["/bin/sh", "-c", attempt, str(home), programs.postgres, programs.initdb], cwd=Path("/"))
    except (EmbeddedUnavailable, OSError, subprocess.SubprocessError):
        return False
    return True
