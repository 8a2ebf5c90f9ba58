"""The account by which a child runs when the service was started as root.

A user that owns nothing, without the rights of root.
"""

import ctypes
import os
import struct
from typing import Final

from testlist.sandbox.kernel import call, numbers, prctl

#: No distribution gives this number to anybody; it needs no entry in /etc/passwd.
NUMBER: Final = 60_999

_PR_CAPBSET_READ, _PR_CAPBSET_DROP, _PR_SET_SECUREBITS, _PR_CAP_AMBIENT, _RAISE = 23, 24, 28, 47, 2
#: root is a user like any other (NOROOT), capabilities change only when we say so (NO_SETUID_FIXUP); both locked
_SECURE: Final = 0x0F
_VERSION_3: Final = 0x2008_0522
#: capabilities to go through folders of others, the smallest first
_SEARCH: Final = (2, 1)  # CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE


def is_root() -> bool:
    """Whether there is something to give up."""
    return os.geteuid() == 0


def become(*, searching: bool) -> None:
    """Become the user, for good.  searching: keep the one capability to read where permissions would not let it.

    With it git reads repositories of any owner, and works below a home that only root may enter; which files these are
    Landlock says, never a permission.  Raises: OSError.
    """
    kept = _held(_SEARCH) if searching else None
    prctl(_PR_SET_SECUREBITS, _SECURE)
    for number in range(64):
        try:
            prctl(_PR_CAPBSET_READ, number)
        except OSError:  # the kernel knows no more of them
            break
        if number != kept:
            prctl(_PR_CAPBSET_DROP, number)
    os.setgroups([])
    os.setresgid(NUMBER, NUMBER, NUMBER)
    os.setresuid(NUMBER, NUMBER, NUMBER)
    _keep(0 if kept is None else 1 << kept)
    if kept is not None:
        prctl(_PR_CAP_AMBIENT, _RAISE, kept)


def _held(numbers_: tuple[int, ...]) -> int | None:
    """The first of some capabilities that this process has; containers take some away."""
    _, permitted = _sets()
    return next((number for number in numbers_ if permitted >> number & 1), None)


def _sets() -> tuple[int, int]:
    """Effective and permitted capabilities."""
    data = ctypes.create_string_buffer(24)
    call(numbers()["capget"], ctypes.create_string_buffer(struct.pack("=Ii", _VERSION_3, 0)), data)
    low, high = struct.unpack("=3I", data.raw[:12]), struct.unpack("=3I", data.raw[12:])
    return low[0] | high[0] << 32, low[1] | high[1] << 32


def _keep(mask: int) -> None:
    """Have these capabilities and no others."""
    data = struct.pack("=6I", *([mask & 0xFFFF_FFFF] * 3), *([mask >> 32] * 3))
    header = ctypes.create_string_buffer(struct.pack("=Ii", _VERSION_3, 0))
    call(numbers()["capset"], header, ctypes.create_string_buffer(data, len(data)))
