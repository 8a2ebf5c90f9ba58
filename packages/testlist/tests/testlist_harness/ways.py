"""Ways out of a sandbox: to files, and to the process that holds secrets."""

import ctypes
import errno
import json
import os
import resource
import signal
import socket
import struct
from collections.abc import Callable
from pathlib import Path

from testlist.sandbox.kernel import numbers

LIBC = ctypes.CDLL(None, use_errno=True)
CANARY = ctypes.create_string_buffer(b"postgresql://canary", 64)
NUMBERS = numbers()
"".encode("idna")  # imported at the first address otherwise
#: what says that the kernel itself turned the attempt down
DENIED = {errno.EPERM, errno.EACCES, errno.ENOSYS}


class Victim:
    """Where everything is; the same in all copies of this process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pid = os.getpid()
        self.address = ctypes.addressof(CANARY)
        self.secret = folder / "secret_key"
        self.secret.write_text("canary")
        self.plain = folder / "plain"
        self.plain.write_text("plain")
        self.link = folder / "link"
        self.link.symlink_to(self.secret)
        self.empty = folder / "empty"
        self.empty.mkdir()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.abstract = f"\0canary-{self.pid}"
        self.unix = [socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)]
        self.unix[0].bind(self.abstract)
        self.unix[1].bind(str(folder / "socket"))
        for one in self.unix:
            one.listen(64)

    def close(self) -> None:
        for one in (self.listener, *self.unix):
            one.close()

    def told(self) -> str:
        """For a process that is no copy of this one."""
        kinds = (int, str, Path)
        return json.dumps({name: value for name, value in vars(self).items() if isinstance(value, kinds)}, default=str)


class Here:
    """Of this process and its copies."""

    victim: Victim


ATTEMPTS: dict[str, Callable[[], object]] = {}
#: what git may do, and a parser may not
OF_GIT = {
    "fork", "a thread", "a pair of sockets", "see whether a file is there", "memory that can be run", "make memory run",
    "a TCP socket",
}  # fmt: skip


def attempt(name: str) -> Callable[[Callable[[], object]], Callable[[], object]]:
    def note(way: Callable[[], object]) -> Callable[[], object]:
        assert name not in ATTEMPTS
        ATTEMPTS[name] = way
        return way

    return note


def call(name: str, *arguments: object) -> int:
    words = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    found = LIBC.syscall(ctypes.c_long(NUMBERS[name]), *words)
    if found < 0:
        raise OSError(ctypes.get_errno(), name)
    return int(found)


def reaches(name: str, *arguments: object) -> None:
    """What counts is that the kernel looks at the arguments, which are wrong on purpose: done right it would do harm."""
    try:
        call(name, *arguments)
    except OSError as error:
        if error.errno in DENIED:
            raise


def text(value: object) -> ctypes.c_char_p:
    return ctypes.c_char_p(os.fsencode(str(value)))


def reads(path: object) -> bytes:
    with open(os.fspath(str(path)), "rb") as file:
        found = file.read(64)
    assert found
    return found


def of_parent(name: str) -> str:
    return f"/proc/{Here.victim.pid}/{name}"


# files
attempt("read the system's passwords")(lambda: reads("/etc/shadow"))
attempt("read a key")(lambda: reads(Here.victim.secret))
attempt("read a key through a link")(lambda: reads(Here.victim.link))
attempt("read a key by way of its own root")(lambda: reads(f"/proc/self/root{Here.victim.secret}"))
attempt("read a key by way of the parent's root")(lambda: reads(of_parent(f"root{Here.victim.secret}")))
attempt("read a key by way of the parent's folder")(lambda: reads(of_parent(f"cwd/{'../' * 40}{Here.victim.secret}")))
attempt("read a key by going up")(lambda: reads(f"/proc/self/cwd/{'../' * 40}{Here.victim.secret}"))
attempt("read a key past the file system's names")(
    lambda: os.listdir("/proc/self/fd") and reads(Here.victim.folder / "link")
)
attempt("read a device")(lambda: os.open("/dev/mem", os.O_RDONLY) if Path("/dev/mem").exists() else reads("/dev/kmsg"))
attempt("list a folder")(lambda: os.listdir(Here.victim.folder))
attempt("list all processes")(lambda: os.listdir("/proc"))
attempt("see whether a file is there")(lambda: os.stat(Here.victim.secret))
attempt("read a setting of the kernel")(lambda: reads("/proc/sys/kernel/hostname"))
attempt("change a setting of the kernel")(lambda: os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))
attempt("change when the kernel kills it")(lambda: os.open("/proc/self/oom_score_adj", os.O_WRONLY))
attempt("write a file")(lambda: (Here.victim.folder / f"new-{os.getpid()}").write_text("x"))
attempt("write a file for all")(lambda: Path(f"/tmp/canary-{Here.victim.pid}-{os.getpid()}").touch())
attempt("write shared memory by its file")(lambda: Path(f"/dev/shm/canary-{Here.victim.pid}-{os.getpid()}").touch())
attempt("change a file")(lambda: Here.victim.plain.open("r+b").write(b"PLAIN"))
attempt("cut a file")(lambda: os.truncate(Here.victim.plain, 1))
attempt("make a folder")(lambda: (Here.victim.folder / f"folder-{os.getpid()}").mkdir())
attempt("remove a folder")(lambda: (Here.victim.empty / "").rmdir() or Here.victim.empty.mkdir())
attempt("make a link")(lambda: (Here.victim.folder / f"link-{os.getpid()}").symlink_to("/"))
attempt("give a file a second name")(lambda: os.link(Here.victim.plain, Here.victim.folder / f"name-{os.getpid()}"))
attempt("make a pipe with a name")(lambda: os.mkfifo(Here.victim.folder / f"pipe-{os.getpid()}"))
attempt("make a device")(lambda: os.mknod(Here.victim.folder / f"null-{os.getpid()}", 0o20600, os.makedev(1, 3)))
attempt("change permissions")(lambda: os.chmod(Here.victim.plain, 0o644))
attempt("change permissions by the newer call")(lambda: call("fchmodat2", -100, text(Here.victim.plain), 0o644, 0))
attempt("change an owner")(lambda: os.chown(Here.victim.plain, os.geteuid(), -1))
attempt("change times")(lambda: os.utime(Here.victim.plain, (1, 1)))


@attempt("rename a file")
def _rename() -> None:
    os.rename(Here.victim.plain, Here.victim.folder / "renamed")
    os.rename(Here.victim.folder / "renamed", Here.victim.plain)


@attempt("remove a file")
def _remove() -> None:
    os.unlink(Here.victim.plain)
    Here.victim.plain.write_text("plain")


@attempt("write attributes")
def _attributes() -> None:
    reaches("setxattr", text(Here.victim.plain), text("user.canary"), text("x"), 1, 0)


@attempt("open by the newer call")
def _open() -> None:
    how = ctypes.create_string_buffer(struct.pack("=QQQ", os.O_RDONLY, 0, 0), 24)
    call("openat2", -100, text(Here.victim.secret), how, 24)


@attempt("open by a handle")
def _handle() -> None:
    handle = ctypes.create_string_buffer(struct.pack("=Ii", 128, 0), 136)
    call("name_to_handle_at", -100, text(Here.victim.secret), handle, ctypes.byref(ctypes.c_int()), 0)
    folder = os.open("/", os.O_RDONLY)
    call("open_by_handle_at", folder, handle, os.O_RDONLY)


# the process that holds secrets
attempt("read the parent's environment")(lambda: reads(of_parent("environ")))
attempt("read the parent's map")(lambda: reads(of_parent("maps")))
attempt("look at the parent's files")(lambda: os.readlink(of_parent("fd/0")))
attempt("look at the parent's program")(lambda: reads(of_parent("exe")))
attempt("see what the parent runs")(lambda: reads(of_parent("cmdline")))
attempt("look at the parent's threads")(lambda: os.listdir(of_parent("task")))
attempt("attach to the parent")(lambda: attached())
attempt("seize the parent")(lambda: call("ptrace", 0x4206, Here.victim.pid, 0, 0))
attempt("be traced")(lambda: call("ptrace", 0, 0, 0, 0))
attempt("hold the parent")(lambda: call("pidfd_open", Here.victim.pid, 0))
attempt("ask whether the parent lives")(lambda: os.kill(Here.victim.pid, 0))
attempt("signal the parent's thread")(lambda: call("tgkill", Here.victim.pid, Here.victim.pid, 0))
attempt("signal a thread")(lambda: call("tkill", Here.victim.pid, 0))
attempt("signal everybody")(lambda: os.kill(-1, 0))
attempt("queue a signal")(lambda: reaches("rt_sigqueueinfo", Here.victim.pid, 0, None))
attempt("slow the parent down")(lambda: os.setpriority(os.PRIO_PROCESS, Here.victim.pid, 1))
attempt("move the parent to a processor")(lambda: os.sched_setaffinity(Here.victim.pid, {0, 1, 2, 3}))
attempt("limit the parent")(lambda: resource.prlimit(Here.victim.pid, resource.RLIMIT_CORE, (0, 0)))
attempt("compare with the parent")(lambda: call("kcmp", Here.victim.pid, Here.victim.pid, 0, 0, 0))
attempt("move the parent's memory")(lambda: reaches("migrate_pages", Here.victim.pid, 64, None, None))


@attempt("read the parent's memory")
def _memory() -> None:
    memory = os.open(of_parent("mem"), os.O_RDONLY)
    assert b"canary" in os.pread(memory, 64, Here.victim.address)


def attached() -> None:
    call("ptrace", 16, Here.victim.pid, 0, 0)
    os.waitpid(Here.victim.pid, 0x40000000)  # also one that is no child of ours
    call("ptrace", 17, Here.victim.pid, 0, 0)
    os.kill(Here.victim.pid, signal.SIGCONT)


def vector(size: int = 64) -> tuple[ctypes.Array[ctypes.c_char], ctypes.Array[ctypes.c_char], object]:
    room = ctypes.create_string_buffer(size)
    local = ctypes.create_string_buffer(struct.pack("@PN", ctypes.addressof(room), size))
    far = ctypes.create_string_buffer(struct.pack("@PN", Here.victim.address, size))
    return room, local, far


@attempt("copy from the parent's memory")
def _copy() -> None:
    room, local, far = vector()
    call("process_vm_readv", Here.victim.pid, local, 1, far, 1, 0)
    assert b"canary" in room.raw


@attempt("copy into the parent's memory")
def _inject() -> None:
    room, local, far = vector(64)
    room.raw = CANARY.raw
    call("process_vm_writev", Here.victim.pid, local, 1, far, 1, 0)


@attempt("take a file of the parent")
def _take() -> None:
    call("pidfd_getfd", os.pidfd_open(Here.victim.pid), Here.victim.listener.fileno(), 0)


@attempt("signal what it holds")
def _hold() -> None:
    signal.pidfd_send_signal(os.pidfd_open(Here.victim.pid), 0)


@attempt("advise the parent's memory")
def _advise() -> None:
    _, _, far = vector(4_096)
    try:
        handle = os.pidfd_open(Here.victim.pid)
    except OSError:
        handle = -1
    reaches("process_madvise", handle, far, 1, 21, 0)
