"""Which files and ports a child may reach: rules the kernel holds it to (Landlock), on top of all permissions."""

import ctypes
import os
import stat
import struct
from collections.abc import Iterable
from typing import Final

from testlist.sandbox.kernel import Unsupported, call

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, REMOVE_DIR, REMOVE_FILE = (1 << bit for bit in range(6))
MAKE_DIR, MAKE_REG, TRUNCATE = 1 << 7, 1 << 8, 1 << 14
READ: Final = READ_FILE | READ_DIR
#: no links of either kind, no pipes, no devices: whoever looks at the folder later meets files and folders only
CHANGE: Final = WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | TRUNCATE
#: of those, what can be said of a file by itself
OF_FILES: Final = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE

#: the same on all machines
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_BIND, _CONNECT = 1, 2
_ABSTRACT_SOCKETS, _SIGNALS = 1, 2
_PATH, _PORT = 1, 2


def abi() -> int:
    """The version this kernel has.  Raises: Unsupported for none."""
    try:
        return call(_CREATE, 0, 0, 1)
    except OSError as error:
        raise Unsupported("the kernel has no Landlock (Linux 5.13 or later with `landlock` among its `lsm`)") from error


class Rules:
    """A set of rules: whatever this kernel can forbid is forbidden but for what is allowed by name."""

    def __init__(self) -> None:
        """Make an empty set.  Raises: Unsupported."""
        version = abi()
        self.files = (1 << (13 if version < 2 else 14 if version < 3 else 15 if version < 5 else 16)) - 1
        self.ports = _BIND | _CONNECT if version >= 4 else 0
        scopes = _ABSTRACT_SOCKETS | _SIGNALS if version >= 6 else 0
        handled = struct.pack("=QQQ", self.files, self.ports, scopes)[: 8 if version < 4 else 16 if version < 6 else 24]
        self.descriptor = call(_CREATE, ctypes.create_string_buffer(handled, len(handled)), len(handled), 0)

    def allow(self, descriptor: int, rights: int) -> None:
        """Allow rights on an open file, or below an open folder.  Raises: OSError."""
        whole = rights & self.files
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            whole &= OF_FILES
        rule = struct.pack("=Qi", whole, descriptor)
        call(_ADD, self.descriptor, _PATH, ctypes.create_string_buffer(rule, len(rule)), 0)

    def allow_paths(self, paths: Iterable[str], rights: int) -> None:
        """Allow rights on what there is of these paths."""
        for path in paths:
            try:
                descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:  # not on this machine
                continue
            try:
                self.allow(descriptor, rights)
            finally:
                os.close(descriptor)

    def allow_ports(self, ports: Iterable[int]) -> None:
        """Allow TCP connections to ports, whatever the address."""
        for port in ports if self.ports else ():
            rule = struct.pack("=QQ", _CONNECT, port)
            call(_ADD, self.descriptor, _PORT, ctypes.create_string_buffer(rule, len(rule)), 0)

    def enforce(self) -> None:
        """Hold this process to them, for good.  Needs no_new_privs.  Raises: OSError."""
        call(_RESTRICT, self.descriptor, 0)
        os.close(self.descriptor)
