"""A git that lives as long as a repository is open and answers questions about its objects."""

import os
import resource
import secrets
import selectors
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from testlist.errors import InventoryError
from testlist.git.process import CHUNK, TICK, GitLimits, launch, write
from testlist.progress import Progress
from testlist.sandbox.guard import end
from testlist.sandbox.process import Process

Answer = TypeVar("Answer")

#: Processor time that answers may cost: so many seconds, and one more for so many bytes.  Honest ones come at 50 MB a
#: second and more; those of a chain of deltas that was made for it take seconds each.
FREE, BYTES_A_SECOND = 4.0, 8 << 20
#: of one process, should nobody look
PROCESSOR_SECONDS: Final = 300
#: /proc/PID/stat counts in these
TICKS_A_SECOND: Final = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Conversation:
    """Questions to one kind of `cat-file`.  Close it."""

    argv: Sequence[str]
    env: Mapping[str, str]
    limits: GitLimits
    progress: Progress
    directory: Path
    reads: Sequence[Path] = ()
    idle: Process | None = None
    errors: bytes = b""  # the end of what it complained of
    left: bool = False  # whether the last process ended by itself
    exit_code: int = 0  # of the last process, if it ended by itself
    spent: float = 0.0  # seconds of processors, of processes that were ended
    delivered: int = 0  # bytes
    due: float = 0.0  # when to look at the processor's time again

    def ask(self, questions: Sequence[str], take: Callable[[bytearray], Answer | None]) -> Iterator[Answer]:
        """Yield an answer for each question, in order; fewer if git ended before.

        take: removes one whole answer from the front of what has come, or returns None; if it raises, git is ended, as
        it is when the caller leaves early.  Raises: InventoryError git_timeout, repository_too_complex.
        """
        process, self.idle = self.idle or self._start(), None
        # git is asked for a name that nobody knows, too: an object that is shorter than it says would be waited for
        last = f"z{secrets.token_hex(16)}"
        over = f"{last} missing\n".encode()
        owed, buffer = len(questions), bytearray()
        chunks = self._chunks(process, memoryview("".join(f"{name}\n" for name in (*questions, last)).encode()))
        try:
            for chunk in chunks:
                buffer += chunk
                while owed and (answer := take(buffer)) is not None:
                    owed -= 1
                    yield answer
                if buffer.endswith(over):
                    break
        finally:
            chunks.close()
            # what comes between the last answer and the end is no answer to anything
            if owed or buffer != over or self.idle is not None:
                self._end(process)
            else:
                self.idle = process

    def close(self) -> None:
        """End the process."""
        if self.idle is not None:
            self._end(self.idle)
            self.idle = None

    def _start(self) -> Process:
        self.errors, self.left = b"", False
        bounds = self.limits.bounds() | {resource.RLIMIT_CPU: PROCESSOR_SECONDS}
        process = launch(self.argv, self.env, bounds, directory=self.directory, reads=self.reads)
        for stream in (process.stdin, process.stdout, process.errors):
            os.set_blocking(stream.fileno(), False)
        return process

    def _end(self, process: Process) -> None:
        code = end(process, grace=TICK)
        self.spent += process.seconds
        self.exit_code = code if self.left else 0

    def _chunks(self, process: Process, feed: memoryview) -> Generator[bytes, None, None]:
        """Send the questions as git takes them; yield what it says, to its end."""
        stdin, stdout, stderr = process.stdin, process.stdout, process.errors
        with selectors.PollSelector() as waiting:
            waiting.register(stdin, selectors.EVENT_WRITE)
            waiting.register(stdout, selectors.EVENT_READ)
            waiting.register(stderr, selectors.EVENT_READ)
            since = time.monotonic()
            while stdout in waiting.get_map():
                ready = {key.fileobj for key, _ in waiting.select(TICK)}
                self.progress.beat()
                self._look(process, since)
                if stderr in ready and not self._complaint(stderr.fileno()):
                    waiting.unregister(stderr)
                if stdin in ready:
                    feed = feed[write(stdin.fileno(), feed) :]
                    if not feed:
                        waiting.unregister(stdin)
                if stdout in ready:
                    if data := os.read(stdout.fileno(), CHUNK):
                        self.delivered += len(data)
                        yield data
                        since = time.monotonic()
                    else:
                        self.left = True
                        waiting.unregister(stdout)

    def _complaint(self, fd: int) -> bool:
        data = os.read(fd, CHUNK)
        self.errors = (self.errors + data)[-8_192:]
        return bool(data)

    def _look(self, process: Process, since: float) -> None:
        """End what takes too long."""
        now = time.monotonic()
        if now < self.due:
            return
        self.due = now + TICK
        if now - since > self.limits.wall_seconds:
            raise InventoryError("git_timeout", "Git took too long to read the repository.")
        if self.spent + processor_seconds(process.pid) > FREE + self.delivered / BYTES_A_SECOND:
            raise InventoryError("repository_too_complex", "Git needs too long to read the repository.")


def processor_seconds(pid: int) -> float:
    """The processor time of a process, which may have ended but not been reaped; 0 if it is unknown."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS_A_SECOND
