"""Ways out of a sandbox: programs, processes, sockets, the kernel, rights."""

import ctypes
import errno
import mmap
import os
import resource
import signal
import socket
import struct
import threading
from collections.abc import Callable
from pathlib import Path

from testlist_harness.ways import LIBC, NUMBERS, Here, attempt, call, reaches, text

#: more children than one job ever has
TOO_MANY = 700

# programs and processes
attempt("run a program")(lambda: os.execv("/bin/true", ["true"]))
attempt("run a shell")(lambda: os.execv("/bin/sh", ["sh", "-c", "exit 0"]))
attempt("run another interpreter")(lambda: os.execv("/usr/bin/env", ["env", "true"]))
attempt("start a program")(lambda: done(os.posix_spawn("/bin/true", ["true"], {})))


def done(pid: int) -> None:
    _, status = os.waitpid(pid, 0)
    if status:
        raise PermissionError(errno.EPERM, "the child did not get so far")


def forked(way: Callable[[], object]) -> None:
    pid = os.fork()
    if not pid:
        try:
            way()
        except BaseException:
            os._exit(1)
        os._exit(0)
    done(pid)


@attempt("run a program of its own making")
def _made() -> None:
    made = os.memfd_create("canary")
    os.write(made, Path("/bin/true").read_bytes())
    os.execve(made, ["true"], {})


@attempt("run a program by its descriptor")
def _described() -> None:
    empty = (ctypes.c_char_p * 2)(b"true", None)
    call("execveat", os.open("/bin/true", os.O_RDONLY), text(""), empty, None, 0x1000)


attempt("fork")(lambda: forked(lambda: None))
attempt("leave its session")(lambda: forked(os.setsid))
attempt("leave its group")(lambda: forked(lambda: os.setpgid(0, 0)))


@attempt("a thread")
def _thread() -> None:
    one = threading.Thread(target=int)
    one.start()
    one.join()


@attempt("fork without end")
def _bomb() -> None:
    waiting, over = os.pipe()
    born = 0
    try:
        for _ in range(TOO_MANY):
            if not os.fork():
                os.close(over)
                os.read(waiting, 1)
                os._exit(0)
            born += 1
    except OSError as error:
        raise PermissionError(errno.EPERM, "no more") from error
    finally:
        os.close(over)
        for _ in range(born):
            os.wait()


def clone(flags: int) -> None:
    pid = call("clone", flags | signal.SIGCHLD, 0, 0, 0, 0)
    if not pid:
        os._exit(0)
    if not flags & 0x8000:
        done(pid)


for title, flags in {
    "a child with users of its own": 0x1000_0000,
    "a child with mounts of its own": 0x0002_0000,
    "a child with a network of its own": 0x4000_0000,
    "a child with processes of its own": 0x2000_0000,
    "a child of its parent": 0x8000,
}.items():
    attempt(title)(lambda flags=flags: clone(flags))

# sockets
attempt("a TCP connection")(lambda: socket.create_connection(("127.0.0.1", Here.victim.port), 2))
attempt("a TCP socket")(lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM))
attempt("a datagram")(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9)))
attempt("a datagram over IPv6")(lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM))
attempt("a port of its own")(lambda: socket.create_server(("127.0.0.1", 0)))
attempt("several paths of TCP")(lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262))
attempt("a raw socket")(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
attempt("packets")(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
attempt("the kernel's routes")(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
attempt("the kernel's ciphers")(lambda: socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET, 0))
attempt("the host of this machine")(lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM))
attempt("a local socket by its path")(lambda: socket.socket(socket.AF_UNIX).connect(str(Here.victim.folder / "socket")))
attempt("a local socket by its name")(lambda: socket.socket(socket.AF_UNIX).connect(Here.victim.abstract))
attempt("local datagrams")(lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
attempt("a pair of sockets")(lambda: socket.socketpair())

# the kernel
attempt("rings of calls")(lambda: reaches("io_uring_setup", 4, ctypes.create_string_buffer(256)))
attempt("entering a ring")(lambda: reaches("io_uring_enter", -1, 1, 0, 0, None, 0))
attempt("programs in the kernel")(
    lambda: reaches("bpf", 0, ctypes.create_string_buffer(struct.pack("=IIII", 2, 4, 4, 1), 128), 128)
)
attempt("keys")(lambda: call("keyctl", 0, -3, 1))
attempt("a new key")(lambda: call("add_key", text("user"), text("canary"), text("x"), 1, -2))
attempt("asking for a key")(lambda: reaches("request_key", text("user"), text("canary"), None, 0))
attempt("counting events")(
    lambda: reaches("perf_event_open", ctypes.create_string_buffer(struct.pack("=II", 1, 128), 128), 0, -1, -1, 0)
)
attempt("faults of its own")(lambda: call("userfaultfd", 1))
attempt("another personality")(lambda: call("personality", 0x0040000))
attempt("users of its own")(lambda: call("unshare", 0x1000_0000))
attempt("a network of its own")(lambda: call("unshare", 0x4000_0000))
attempt("mounts of its own")(lambda: call("unshare", 0x0002_0000))
attempt("files of its own")(lambda: call("unshare", 0x400))
attempt("the parent's name space")(lambda: reaches("setns", -1, 0))
attempt("a mount")(lambda: reaches("mount", text("none"), text("/nowhere"), text("tmpfs"), 0, None))
attempt("no mount")(lambda: reaches("umount2", text("/nowhere"), 0))
attempt("another root")(lambda: os.chroot(Here.victim.folder))
attempt("a root to turn to")(lambda: reaches("pivot_root", text("/nowhere"), text("/nowhere")))
attempt("a file system to come")(lambda: call("fsopen", text("tmpfs"), 0))
attempt("a copy of a mount")(lambda: call("open_tree", -100, text("/"), 1))
attempt("a mount that moves")(lambda: reaches("move_mount", -1, text(""), -1, text(""), 0))
attempt("attributes of a mount")(lambda: reaches("mount_setattr", -100, text("/nowhere"), 0, None, 0))
attempt("shared memory")(lambda: shared("shm"))
attempt("semaphores")(lambda: shared("sem"))
attempt("a queue of messages")(lambda: shared("msg"))
attempt("a queue by its name")(lambda: queue())
attempt("memory with a descriptor")(lambda: os.memfd_create("canary"))
attempt("watching all files")(lambda: call("fanotify_init", 0, 0))
attempt("another filter")(lambda: call("seccomp", 2, 0, ctypes.byref(ctypes.c_uint(0x7FFF0000))))
attempt("a module of the kernel")(lambda: reaches("finit_module", -1, text(""), 0))
attempt("removing a module")(lambda: reaches("delete_module", text("canary"), 0))
attempt("another kernel")(lambda: reaches("kexec_load", 0, 1 << 20, None, 0))
attempt("the kernel's log")(lambda: call("syslog", 10, 0, 0))
attempt("the machine's name")(lambda: socket.sethostname(os.uname().nodename))
attempt("the machine's clock")(lambda: reaches("clock_settime", 99, None))
attempt("swapping")(lambda: reaches("swapon", text("/nowhere"), 0))
attempt("keeping accounts")(lambda: reaches("acct", text("/nowhere")))
attempt("quotas")(lambda: reaches("quotactl", 0x80000700, None, 0, None))
attempt("mapping over a file again")(lambda: reaches("remap_file_pages", 0, 0, 0, 0, 0))
attempt("being real time")(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))
attempt("the first turn at the disk")(lambda: call("ioprio_set", 1, 0, 1 << 13))

# rights
attempt("being root")(lambda: forked(lambda: os.setuid(0)))
attempt("being another user")(lambda: forked(lambda: os.setresuid(12, 12, 12)))
attempt("being in a group")(lambda: os.setgroups([0, 1]))
attempt("being of another group")(lambda: forked(lambda: os.setresgid(12, 12, 12)))
attempt("other rights to files")(lambda: reaches("setfsuid", 0))
attempt("capabilities")(lambda: reaches("capset", None, None))
attempt("higher limits")(lambda: raised())
attempt("memory that can be run")(lambda: mmap.mmap(-1, 4_096, prot=mmap.PROT_READ | mmap.PROT_EXEC))
attempt("make memory run")(lambda: runnable())

if "iopl" in NUMBERS:
    attempt("the machine's ports")(lambda: call("iopl", 3))
    attempt("a port of the machine")(lambda: call("ioperm", 0x80, 1, 1))
    attempt("segments")(lambda: reaches("modify_ldt", 0, None, 0))


def shared(kind: str) -> None:
    arguments = {"shm": (0, 4_096, 0o1600), "sem": (0, 1, 0o1600), "msg": (0, 0o1600)}[kind]
    remove = {"shm": ("shmctl", 0, None), "sem": ("semctl", 0, 0, 0), "msg": ("msgctl", 0, None)}[kind]
    made = call(f"{kind}get", *arguments)
    call(remove[0], made, *remove[1:])


def queue() -> None:
    name = f"canary-{os.getpid()}"
    call("mq_open", text(name), os.O_CREAT | os.O_RDWR, 0o600, None)
    call("mq_unlink", text(name))


def raised() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NICE)
    resource.setrlimit(resource.RLIMIT_NICE, (hard, hard + 1))


def runnable() -> None:
    room = ctypes.create_string_buffer(8_192)
    page = (ctypes.addressof(room) + 4_095) & ~4_095
    if LIBC.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(4_096), 7):
        raise OSError(ctypes.get_errno(), "mprotect")
