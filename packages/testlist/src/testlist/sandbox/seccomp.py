"""Which system calls a child may make: a filter in the kernel's own small language (BPF), put together here."""

import ctypes
import errno
import struct
from collections.abc import Iterable
from functools import cache
from typing import Final

from testlist.sandbox.kernel import BEYOND, audit, call, numbers


def _names(words: str) -> tuple[str, ...]:
    return tuple(words.split())


#: All that a parser may do: read and write what is open, memory, time.  No path, no socket, no process, no signal.
PARSER: Final = _names(
    "read write readv writev close fstat lseek munmap mremap madvise brk rt_sigaction rt_sigprocmask rt_sigreturn "
    "sigaltstack poll ppoll nanosleep clock_nanosleep setitimer getpid gettid getppid getuid geteuid getgid "
    "getegid exit exit_group futex clock_gettime clock_getres gettimeofday time getrandom sched_yield "
    "sched_getaffinity restart_syscall sysinfo getrusage membarrier rseq"
)

#: What git never needs.  Of other processes:
FOREIGN: Final = _names(
    "ptrace process_vm_readv process_vm_writev kcmp pidfd_open pidfd_getfd pidfd_send_signal process_madvise "
    "process_mrelease kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo migrate_pages move_pages setpriority "
    "ioprio_set sched_setscheduler sched_setparam sched_setattr sched_setaffinity setpgid setsid"
)
#: of the machine, and large targets inside the kernel:
KERNEL: Final = _names(
    "io_uring_setup io_uring_enter io_uring_register bpf keyctl add_key request_key perf_event_open userfaultfd "
    "personality seccomp init_module finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff "
    "sethostname setdomainname settimeofday clock_settime adjtimex clock_adjtime acct quotactl quotactl_fd syslog "
    "iopl ioperm modify_ldt lookup_dcookie uselib ustat sysfs vhangup nfsservctl remap_file_pages mbind "
    "set_mempolicy set_mempolicy_home_node vmsplice fanotify_init fanotify_mark name_to_handle_at "
    "open_by_handle_at map_shadow_stack lsm_set_self_attr mount umount2 pivot_root chroot unshare setns open_tree "
    "open_tree_attr move_mount fsopen fsconfig fsmount fspick mount_setattr"
)
#: of rights, its own and those of files, which Landlock does not cover:
RIGHTS: Final = _names(
    "setuid setgid setreuid setregid setresuid setresgid setfsuid setfsgid setgroups capset setrlimit chmod "
    "fchmodat fchmodat2 chown lchown fchown fchownat utime utimes utimensat futimesat truncate mknod mknodat "
    "setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat file_setattr"
)
#: of what processes share, and of sockets that wait for others:
SHARED: Final = _names(
    "memfd_create memfd_secret execveat shmget shmat shmctl shmdt semget semop semctl semtimedop msgget msgsnd "
    "msgrcv msgctl mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr bind listen accept "
    "accept4 sendmmsg recvmmsg"
)

#: clone: name spaces, a tracer, or a parent other than its own
STRANGE_CLONES: Final = 0x7E02_A000
PROT_EXEC: Final = 4
#: ioctl: type into a terminal, as its user would (TIOCSTI, TIOCLINUX), or take one (TIOCSCTTY)
TERMINAL: Final = (0x5412, 0x541C, 0x540E)
AF_UNIX, AF_INET, AF_INET6 = 1, 2, 10
STREAM, DATAGRAM, IPPROTO_TCP = 1, 2, 6

_LOAD, _EQUAL, _AT_LEAST, _ANY_OF, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _KILL = 0x7FFF_0000, 0x8000_0000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_SET_MODE_FILTER = 1
#: one instruction: code, jump if true, jump if false, operand
Code = tuple[int, int, int, int]


@cache
def parser() -> bytes:
    """Allow what PARSER names, and memory that is not to be run."""
    allowed = [code for name in PARSER for code in _one(name, [_answer(_ALLOW)])]
    memory = [_argument(2), (_ANY_OF, 0, 1, PROT_EXEC), _refuse(), _answer(_ALLOW)]
    return _packed([*_prelude(), *allowed, *_one("mmap", memory), *_one("mprotect", memory), _refuse()])


@cache
def git(*, network: bool, datagrams: bool = False) -> bytes:
    """Refuse what git never needs; every call that is newer than this list, too.

    network: TCP sockets.  datagrams: UDP ones of IPv6, which the HTTP library opens to find out whether there is IPv6.
    """
    refused = [code for name in FOREIGN + KERNEL + RIGHTS + SHARED for code in _one(name, [_refuse()])]
    conditional = [
        *_one(
            "clone3", [_refuse(errno.ENOSYS)]
        ),  # its flags lie in memory, where no filter can look; clone is used then
        *_one("clone", [_argument(0), (_ANY_OF, 0, 1, STRANGE_CLONES), _refuse(), _answer(_ALLOW)]),
        *_one("ioctl", [_argument(1), *_unless(TERMINAL, _refuse()), _answer(_ALLOW)]),
        *_one("prlimit64", [_argument(0), (_EQUAL, 0, 1, 0), _answer(_ALLOW), _refuse()]),
        *_one("socketpair", [_argument(0), (_EQUAL, 0, 1, AF_UNIX), _answer(_ALLOW), _refuse()]),
        *_one("socket", _sockets(datagrams=datagrams) if network else [_refuse()]),
    ]
    newer = [(_AT_LEAST, 0, 1, BEYOND), _refuse(errno.ENOSYS)]
    return _packed([*_prelude(), *newer, *conditional, *refused, _answer(_ALLOW)])


def install(program: bytes) -> None:
    """Put a filter in force, for good.  Needs no_new_privs.  Raises: OSError."""
    body = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog: how many instructions, and where
    header = ctypes.create_string_buffer(struct.pack("@HP", len(program) // 8, ctypes.addressof(body)))
    call(numbers()["seccomp"], _SET_MODE_FILTER, 0, header)


def _packed(program: Iterable[Code]) -> bytes:
    return b"".join(struct.pack("=HBBI", *code) for code in program)


def _prelude() -> list[Code]:
    """Calls of another machine's kind (32 bits on x86_64) end the process; then the number is at hand.

    x32 has the numbers of x86_64 with a high bit, so that no list here knows them.
    """
    return [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, audit()), _answer(_KILL), (_LOAD, 0, 0, _NUMBER)]


def _one(name: str, then: list[Code]) -> list[Code]:
    """What happens to one call; nothing where this machine has none of this name.  then: ends in an answer."""
    number = numbers().get(name)
    return [] if number is None else [(_EQUAL, 0, len(then), number), *then]


def _sockets(*, datagrams: bool) -> list[Code]:
    """TCP over IPv4 or IPv6, and no other protocol that runs over streams: Landlock would not know its ports."""
    stream = [_argument(1), (_AND, 0, 0, 0xF), (_EQUAL, 1, 0, STREAM), _refuse()]
    protocol = [_argument(2), (_EQUAL, 2, 0, 0), (_EQUAL, 1, 0, IPPROTO_TCP), _refuse(), _answer(_ALLOW)]
    probe = [_argument(1), (_AND, 0, 0, 0xF), (_EQUAL, 0, 1, DATAGRAM), _answer(_ALLOW)]
    of_six = [*(probe if datagrams else []), *stream, *protocol]
    return [
        _argument(0),
        *[(_EQUAL, 0, len(of_six), AF_INET6), *of_six],
        *[(_EQUAL, 1, 0, AF_INET), _refuse()],
        *stream,
        *protocol,
    ]


def _unless(values: Iterable[int], then: Code) -> list[Code]:
    return [code for value in values for code in ((_EQUAL, 0, 1, value), then)]


def _argument(number: int) -> Code:
    """Load the lower half of an argument; those looked at are of 32 bits."""
    return (_LOAD, 0, 0, _ARGUMENTS + 8 * number)


def _answer(action: int) -> Code:
    return (_RETURN, 0, 0, action)


def _refuse(number: int = errno.EPERM) -> Code:
    return _answer(0x0005_0000 | number)
