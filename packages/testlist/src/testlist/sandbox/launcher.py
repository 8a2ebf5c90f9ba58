"""The process that starts git and parsing children.  It is made clean, holds no secret, and reads no hostile byte.

A worker asks over a socket: one message with four descriptors, three of them to be the standard streams of the child.
The fourth is the channel of this one child.  The order itself is read from there by the child, so that nothing it
says, as credentials of one repository, is ever in the memory that later children are copied from.  Back come the
child's number, and its exit code when it has ended.  A worker that goes, or closes its side of a channel, ends the
child and all it started.
"""

import gc
import json
import os
import resource
import select
import signal
import socket
import time
from typing import Any, Final

from testlist.sandbox import account, confine
from testlist.sandbox.kernel import Unsupported

#: a child's own descriptor of its channel
CHANNEL: Final = 3
#: a child that did not get as far as its work
FAILED: Final = 126
#: tasks that all children of git's kind may add to those that their user has; the kernel counts no smaller groups
TASKS: Final = 512
#: seconds for which a count of them is good enough
COUNTED: Final = 10.0
MESSAGE: Final = 4_096
#: what every parsing child needs
EVERY: Final = ""


class Launcher:
    """The loop.  children: number -> channel."""

    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self.children: dict[int, socket.socket] = {}
        self.poll = select.poll()
        self.poll.register(control, select.POLLIN)
        self.number = os.getpid()
        self.missing = {EVERY}  # what children had to import for themselves
        self.tasks = (0, -COUNTED)

    def run(self) -> None:
        """Serve until the worker is gone."""
        reported, tell = os.pipe()
        os.set_blocking(tell, False)
        os.set_blocking(reported, False)
        signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.poll.register(reported, select.POLLIN)
        while True:
            events = self.poll.poll(0 if self.missing and not self.children else None)
            if not events:
                learn(self.missing.pop())
            for descriptor, _ in events:
                if descriptor == reported:
                    _drain(reported)
                elif descriptor == self.control.fileno():
                    if not self.accept():
                        return
                else:
                    self.left(descriptor)
            self.reap()

    def accept(self) -> bool:
        """Start what is asked for; False when nobody can ask any more."""
        data, descriptors, _, _ = socket.recv_fds(self.control, MESSAGE, 4)
        if not data or len(descriptors) != 4:
            for number in self.children:
                kill(number)
            return False
        needs = data.decode("ascii").split()
        *streams, end = descriptors
        channel = socket.socket(fileno=end)
        tasks = self.count() if needs[0] == "git" else 0
        number = os.fork()
        if not number:
            begin(needs, streams, channel, self.number, tasks)
        for descriptor in streams:
            os.close(descriptor)
        self.children[number] = channel
        self.poll.register(channel, select.POLLRDHUP)
        self.missing |= set(needs[1:]) - KNOWN
        _tell(channel, f"={number}\n")
        return True

    def left(self, descriptor: int) -> None:
        """Kill the child whose worker has closed its channel."""
        self.poll.unregister(descriptor)
        for number, channel in self.children.items():
            if channel.fileno() == descriptor:
                kill(number)

    def reap(self) -> None:
        """Report children that have ended; what they started ends with them."""
        for number in list(self.children):
            if os.waitid(os.P_PID, number, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                continue
            kill(number)  # before it is reaped: until then nobody else can have its number
            _, status, used = os.wait4(number, 0)
            channel = self.children.pop(number)
            try:
                self.poll.unregister(channel)
            except KeyError:
                pass
            _tell(channel, f".{os.waitstatus_to_exitcode(status)} {used.ru_utime + used.ru_stime}\n")
            channel.close()

    def count(self) -> int:
        """How many tasks a child of git's kind may see of its user."""
        count, since = self.tasks
        if time.monotonic() - since > COUNTED:
            count = sum(map(_tasks, filter(str.isdigit, os.listdir("/proc")))) if os.path.isdir("/proc/self") else 0
            self.tasks = count, time.monotonic()
        return count + TASKS


#: what has been imported here, and need not be by children
KNOWN: set[str] = set()


def learn(need: str) -> None:
    """Import what a language or codec needs, down to what is imported at its first use only."""
    from testlist.sandbox.child import prepare  # noqa: PLC0415 - git needs none of it

    KNOWN.add(need)
    if need != EVERY:
        prepare(need)


def kill(number: int) -> None:
    """End a child and everything in its session's group."""
    for end in (os.killpg, os.kill):
        try:
            end(number, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass


def begin(needs: list[str], streams: list[int], channel: socket.socket, parent: int, tasks: int) -> None:
    """Be the child; never returns."""
    try:
        order = _settled(streams, channel)
        if needs[0] == "git":
            _git(order, parent, tasks)
        else:
            _parse(order, needs[1:], parent)
        os._exit(0)
    except BaseException as error:  # noqa: BLE001 - whatever it is, this copy of the launcher must not go on
        # the kernel's words, and ours: no order, and nothing of a file, is in them
        said = str(error) if isinstance(error, Unsupported) else f"{type(error).__name__}: {error}"
        os.write(CHANNEL, f"!{said}".replace("\n", " ").encode() + b"\n")
        os._exit(FAILED)


def _settled(streams: list[int], channel: socket.socket) -> dict[str, Any]:
    """Have a session, the streams and the channel, and nothing else of the launcher.  Returns the order."""
    os.setsid()
    signal.set_wakeup_fd(-1)
    for name in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(name, signal.SIG_DFL)
    for target, descriptor in enumerate(streams):
        os.dup2(descriptor, target)
    os.dup2(channel.fileno(), CHANNEL, inheritable=False)
    channel.detach()
    os.closerange(CHANNEL + 1, os.sysconf("SC_OPEN_MAX"))
    with open(CHANNEL, "rb", closefd=False) as orders:
        order: dict[str, Any] = json.loads(orders.readline())
    return order


def _git(order: dict[str, Any], parent: int, tasks: int) -> None:
    folder = confine.exactly(order["folder"]) if order["folder"] else None
    os.chdir("/") if folder is None else os.fchdir(folder)
    _limit(order)
    if order["sandbox"]:
        confine.lower(resource.RLIMIT_NPROC, tasks)
        confine.git(order, folder, parent)
    else:
        confine.dies_with(parent)
    os.execve(order["argv"][0], order["argv"], order["env"])


def _parse(order: dict[str, Any], needs: list[str], parent: int) -> None:
    from testlist.sandbox.child import serve  # noqa: PLC0415 - git needs none of it

    for need in needs:
        learn(need)
    os.chdir("/")
    gc.disable()  # syntax trees have no cycles, and collections cost a third of the time
    requests, answers = open(0, "rb", closefd=False), open(1, "wb", closefd=False)  # noqa: SIM115
    _limit(order)
    if order["sandbox"]:
        confine.parser(parent)
    else:
        confine.dies_with(parent)
    os.close(CHANNEL)
    serve(requests, answers, order["seconds"])


def _limit(order: dict[str, Any]) -> None:
    for name, bound in order["limits"]:
        confine.lower(name, bound)


def _tasks(name: str) -> int:
    """Tasks of one process, if it is of the user of children."""
    user = account.NUMBER if account.is_root() else os.getuid()
    try:
        return os.stat(f"/proc/{name}/task").st_nlink - 2 if os.stat(f"/proc/{name}").st_uid == user else 0
    except OSError:  # it has ended
        return 0


def _drain(descriptor: int) -> None:
    try:
        os.read(descriptor, MESSAGE)
    except BlockingIOError:
        pass


def _tell(channel: socket.socket, line: str) -> None:
    try:
        channel.send(line.encode(), socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
    except OSError:  # the worker does not want to know
        pass


def main() -> None:
    """Serve the process that made this one; the socket is its standard input."""
    gc.disable()
    Launcher(socket.socket(fileno=0)).run()
    os._exit(0)  # its worker waits for it, and there is nothing to put in order
