"""Giving up rights, in the order that works: what needs them first, then the user, then Landlock, then seccomp."""

import ctypes
import os
import resource
import struct
from typing import Any, Final

from testlist.sandbox import account, seccomp
from testlist.sandbox.kernel import call, numbers, prctl
from testlist.sandbox.landlock import CHANGE, EXECUTE, READ, READ_FILE, WRITE_FILE, Rules

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 1, 4, 38
#: files a parser may have open
FEW: Final = 16

#: where programs and their libraries are; of programs in /usr/bin git alone may be run
LIBRARIES: Final = (
    "/lib",
    "/lib64",
    "/lib32",
    "/usr/lib",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/local/lib",
    "/nix/store",
)
#: what git, the HTTP library and the C library look up
CONFIGURED: Final = (
    "/usr/share", "/usr/local/share", "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/ca-certificates.conf",
    "/etc/crypto-policies", "/etc/gnutls", "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf",
    "/etc/gai.conf", "/etc/services", "/etc/protocols", "/etc/ld.so.cache", "/etc/localtime", "/dev/urandom",
    "/dev/random", "/dev/zero",
)  # fmt: skip
#: git asks it for passwords, and hears none
DEAF: Final = "/bin/false"

_NO_SYMLINKS, _NO_MAGIC = 0x04, 0x02


def parser(parent: int) -> None:
    """What parses: no file, no socket, no process, no signal.  Everything it needs has been imported."""
    rules = Rules()
    if account.is_root():
        account.become(searching=False)
    for name, bound in ((resource.RLIMIT_NPROC, 0), (resource.RLIMIT_NOFILE, FEW)):
        lower(name, bound)
    _close_in(rules, seccomp.parser(), parent)


def git(order: dict[str, Any], folder: int | None, parent: int) -> None:
    """What runs git.  order: as `Order` of guard; folder: the open folder it works in."""
    rules = Rules()
    program = os.path.realpath(order["argv"][0])
    home = os.path.dirname(os.path.dirname(program))
    rules.allow_paths([program, DEAF, *LIBRARIES, f"{home}/libexec", f"{home}/lib"], READ | EXECUTE)
    rules.allow_paths([*CONFIGURED, *order["certificates"], f"{home}/share"], READ)
    rules.allow_paths(["/dev/null"], READ_FILE | WRITE_FILE)
    for path in order["reads"]:
        _allow_exactly(rules, path, READ)
    if folder is not None:
        rules.allow(folder, READ | CHANGE if order["writes"] else READ)
    rules.allow_ports(order["ports"])
    if account.is_root():
        account.become(searching=folder is not None)
    _close_in(rules, seccomp.git(network=bool(order["ports"]), datagrams=order["datagrams"]), parent)


def dies_with(parent: int) -> None:
    """End when the process that forked this one does.  After a change of user, which would undo it."""
    prctl(PR_SET_PDEATHSIG, 9)
    if os.getppid() != parent:  # it died before the request above took hold
        os._exit(1)


def lower(name: int, bound: int) -> None:
    """Set a limit, or keep the lower one that is there."""
    hard = resource.getrlimit(name)[1]
    # a second between soft and hard: the first ends a child by a signal of its own, which tells why it ended
    wanted = (bound, bound + 1) if name == resource.RLIMIT_CPU else (bound, bound)
    soft, most = (one if hard == resource.RLIM_INFINITY else min(one, hard) for one in wanted)
    resource.setrlimit(name, (soft, most))


def exactly(path: str) -> int:
    """Open a folder or file whose path holds no link at any point, so that none put there meanwhile leads elsewhere."""
    how = struct.pack("=QQQ", os.O_PATH | os.O_CLOEXEC, 0, _NO_SYMLINKS | _NO_MAGIC)
    name = ctypes.c_char_p(os.fsencode(path))
    return call(numbers()["openat2"], -100, name, ctypes.create_string_buffer(how, len(how)), len(how))


def _allow_exactly(rules: Rules, path: str, rights: int) -> None:
    descriptor = exactly(path)
    rules.allow(descriptor, rights)
    os.close(descriptor)


def _close_in(rules: Rules, program: bytes, parent: int) -> None:
    dies_with(parent)
    prctl(PR_SET_DUMPABLE, 0)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    rules.enforce()
    seccomp.install(program)
