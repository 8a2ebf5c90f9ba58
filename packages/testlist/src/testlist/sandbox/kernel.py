"""System calls of Linux by name, and the few that Python has no words for."""

import ctypes
import os
from functools import cache
from typing import Final

#: per line: name, number on x86_64, number on aarch64; `-`: there is none
_TABLE: Final = """
accept 43 202, accept4 288 242, acct 163 89, add_key 248 217, adjtimex 159 171, bind 49 200, bpf 321 280
brk 12 214, capget 125 90, capset 126 91, chmod 90 -, chown 92 -, chroot 161 51, clock_adjtime 305 266
clock_getres 229 114, clock_gettime 228 113, clock_nanosleep 230 115, clock_settime 227 112, clone 56 220
clone3 435 435, close 3 57, connect 42 203, delete_module 176 106, execve 59 221, execveat 322 281, exit 60 93
exit_group 231 94, fanotify_init 300 262, fanotify_mark 301 263, fchmodat 268 53, fchmodat2 452 452
fchown 93 55, fchownat 260 54, file_setattr 469 469, finit_module 313 273, fork 57 -, fremovexattr 199 16
fsconfig 431 431, fsetxattr 190 7, fsmount 432 432, fsopen 430 430, fspick 433 433, fstat 5 80, futex 202 98
futimesat 261 -, getegid 108 177, geteuid 107 175, getgid 104 176, getpid 39 172, getppid 110 173
getrandom 318 278, getrusage 98 165, gettid 186 178, gettimeofday 96 169, getuid 102 174, init_module 175 105
io_uring_enter 426 426, io_uring_register 427 427, io_uring_setup 425 425, ioctl 16 29, ioperm 173 -
iopl 172 -, ioprio_set 251 30, kcmp 312 272, kexec_file_load 320 294, kexec_load 246 104, keyctl 250 219
kill 62 129, landlock_add_rule 445 445, landlock_create_ruleset 444 444, landlock_restrict_self 446 446
lchown 94 -, listen 50 201, lookup_dcookie 212 18, lremovexattr 198 15, lseek 8 62, lsetxattr 189 6
lsm_set_self_attr 460 460, madvise 28 233, map_shadow_stack 453 453, mbind 237 235, membarrier 324 283
memfd_create 319 279, memfd_secret 447 447, migrate_pages 256 238, mknod 133 -, mknodat 259 33, mmap 9 222
modify_ldt 154 -, mount 165 40, mount_setattr 442 442, move_mount 429 429, move_pages 279 239, mprotect 10 226
mq_getsetattr 245 185, mq_notify 244 184, mq_open 240 180, mq_timedreceive 243 183, mq_timedsend 242 182
mq_unlink 241 181, mremap 25 216, msgctl 71 187, msgget 68 186, msgrcv 70 188, msgsnd 69 189, munmap 11 215
name_to_handle_at 303 -, nanosleep 35 101, nfsservctl 180 42, open_by_handle_at 304 -, open_tree 428 428
open_tree_attr 467 467, openat2 437 437, perf_event_open 298 241, personality 135 92, pidfd_getfd 438 438
pidfd_open 434 434, pidfd_send_signal 424 424, pivot_root 155 41, poll 7 -, ppoll 271 73, prctl 157 167
prlimit64 302 261, process_madvise 440 440, process_mrelease 448 448, process_vm_readv 310 270
process_vm_writev 311 271, ptrace 101 117, quotactl 179 60, quotactl_fd 443 443, read 0 63, readv 19 65
reboot 169 142, recvmmsg 299 243, remap_file_pages 216 234, removexattr 197 14, removexattrat 466 466
request_key 249 218, restart_syscall 219 128, rseq 334 293, rt_sigaction 13 134, rt_sigprocmask 14 135
rt_sigqueueinfo 129 138, rt_sigreturn 15 139, rt_tgsigqueueinfo 297 240, sched_getaffinity 204 123
sched_setaffinity 203 122, sched_setattr 314 274, sched_setparam 142 118, sched_setscheduler 144 119
sched_yield 24 124, seccomp 317 277, semctl 66 191, semget 64 190, semop 65 193, semtimedop 220 192
sendmmsg 307 269, set_mempolicy 238 237, set_mempolicy_home_node 450 450, setdomainname 171 162
setfsgid 123 152, setfsuid 122 151, setgid 106 144, setgroups 116 159, sethostname 170 161, setitimer 38 103
setns 308 268, setpgid 109 154, setpriority 141 140, setregid 114 143, setresgid 119 149, setresuid 117 147
setreuid 113 145, setrlimit 160 164, setsid 112 157, settimeofday 164 170, setuid 105 146, setxattr 188 5
setxattrat 463 463, shmat 30 196, shmctl 31 195, shmdt 67 197, shmget 29 194, sigaltstack 131 132
socket 41 198, socketpair 53 199, swapoff 168 225, swapon 167 224, sysfs 139 -, sysinfo 99 179, syslog 103 116
tgkill 234 131, time 201 -, tkill 200 130, truncate 76 45, umount2 166 39, unshare 272 97, uselib 134 -
userfaultfd 323 282, ustat 136 -, utime 132 -, utimensat 280 88, utimes 235 -, vfork 58 -, vhangup 153 58
vmsplice 278 75, write 1 64, writev 20 66
"""
#: the first number that no kernel of 2026 knows
BEYOND: Final = 470
#: machine -> (column of the table, AUDIT_ARCH of <linux/audit.h>)
_MACHINES: Final = {"x86_64": (1, 0xC000003E), "aarch64": (2, 0xC00000B7)}

_libc = ctypes.CDLL(None, use_errno=True)


class Unsupported(Exception):  # noqa: N818 - a fact about this machine
    """This machine or kernel has no sandbox for us; the message says what is missing."""


@cache
def numbers() -> dict[str, int]:
    """Name -> number, of calls that this machine has.  Raises: Unsupported."""
    column, _ = _machine()
    words = (row.split() for row in _TABLE.replace("\n", ",").split(",") if row.strip())
    return {word[0]: int(word[column]) for word in words if word[column] != "-"}


def audit() -> int:
    """What the kernel calls this machine in seccomp.  Raises: Unsupported."""
    return _machine()[1]


def _machine() -> tuple[int, int]:
    found = _MACHINES.get(os.uname().machine if os.uname().sysname == "Linux" else "")
    if found is None:
        raise Unsupported("it needs Linux on x86_64 or aarch64")
    return found


def call(number: int, *arguments: object) -> int:
    """Call the kernel.  arguments: integers, ctypes objects or pointers.  Raises: OSError."""
    # without the type an integer goes as 32 bits, and the upper half of its register is whatever it was
    words = [ctypes.c_ulong(one & 0xFFFF_FFFF_FFFF_FFFF) if isinstance(one, int) else one for one in arguments]
    found = int(_libc.syscall(ctypes.c_long(number), *words))
    if found < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return found


def prctl(option: int, *arguments: int) -> int:
    """Read or change an attribute of this process in the kernel.  Raises: OSError."""
    words = [ctypes.c_ulong(one) for one in (*arguments, 0, 0, 0, 0)[:4]]
    found = int(_libc.prctl(ctypes.c_int(option), *words))
    if found < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return found
