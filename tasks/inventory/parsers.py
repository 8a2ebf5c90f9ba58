"""Killable parsing children: text in, facts out, and a reason instead of facts for a file that kills them."""

import json
import os
import resource
import selectors
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Self

from tasks.inventory.guard import end, guarded, pipe
from tasks.inventory.model import Facts
from tasks.inventory.pulse import Pulse

ROOT: Final = Path(__file__).resolve().parents[2]
#: what a child runs; without runpy and site, which take a third of an interpreter's start
BEGIN: Final = "from tasks.inventory.child import main; main()"
BATCH: Final = 32  # files in a child's hands
FEW: Final = 8  # of them, which it gets even near the end
#: Times the processor's time for one file, in wall time: a machine that is short of it must cost nobody a file.
STARVED: Final = 12
CHUNK: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class ParseLimits:
    """Bounds of parsing."""

    file_seconds: float = 5.0  # of a processor, for one file
    cpu_seconds: int = 60  # of one child
    memory_bytes: int = 1536 << 20  # address space of one child
    answer_bytes: int = 16 << 20  # facts of one file
    children: int = 2


@dataclass(slots=True)
class Job:
    """One file to parse.  alone: it stood in a child that died, and is tried once more by itself."""

    key: str
    language: str
    source: bytes
    alone: bool = False


@dataclass(slots=True)
class Child:
    """One process and what it has been given, oldest first."""

    process: "subprocess.Popen[bytes]"
    jobs: deque[Job] = field(default_factory=deque)
    feed: bytearray = field(default_factory=bytearray)
    answer: bytearray = field(default_factory=bytearray)
    since: float = 0.0  # when the first job in hand was begun

    def give(self, job: Job) -> None:
        """Queue a job."""
        if not self.jobs:
            self.since = time.monotonic()
        self.jobs.append(job)
        self.feed += f"{job.language} {len(job.source)}\n".encode() + job.source

    def write(self) -> None:
        """Send what the pipe takes."""
        try:
            del self.feed[: os.write(pipe(self.process.stdin).fileno(), self.feed[:CHUNK])]
        except BrokenPipeError:  # its death is noticed where answers are read
            self.feed.clear()

    def read(self) -> list[tuple[str, Facts]] | None:
        """Collect finished answers; None when the child is gone."""
        data = os.read(pipe(self.process.stdout).fileno(), CHUNK)
        if not data:
            return None
        self.answer += data
        if b"\n" not in data:
            return []
        *lines, rest = bytes(self.answer).split(b"\n")
        self.answer = bytearray(rest)
        self.since = time.monotonic()
        return [(self.jobs.popleft().key, json.loads(line)) for line in lines]


@dataclass(slots=True)
class Parsers:
    """A few children behind one call.  Use as a context manager: leaving it ends them all."""

    limits: ParseLimits = field(default_factory=ParseLimits)
    pulse: Pulse = field(default_factory=Pulse)
    idle: list[Child] = field(default_factory=list)
    busy: list[Child] = field(default_factory=list)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for child in self.idle + self.busy:
            end(child.process)
        self.idle.clear()
        self.busy.clear()

    def warm(self) -> None:
        """Start one child early, so that it gets ready while git works."""
        if not self.idle and not self.busy:
            self.idle.append(self._start())

    def parse(self, jobs: Iterator[Job]) -> Iterator[tuple[str, Facts]]:
        """Yield (key, facts) in the order files finish; facts may be {"skipped": code}."""
        waiting: deque[Job] = deque()
        exhausted = False
        while True:
            while not exhausted and len(waiting) < BATCH * self.limits.children:
                job = next(jobs, None)
                exhausted = job is None
                waiting.extend([job] if job else [])
            self._hand_out(waiting)
            if not self.busy:
                return
            yield from self._turn(waiting)

    def _hand_out(self, waiting: deque[Job]) -> None:
        while waiting and (self.idle or len(self.busy) < self._useful(len(waiting))):
            child = self._child(fresh=waiting[0].alone)
            self.busy.append(child)
            child.give(waiting.popleft())
            self._top_up(child, waiting)
        for child in self.busy:
            if len(child.jobs) <= BATCH // 2:  # it must not run dry while others keep us busy
                self._top_up(child, waiting)

    def _top_up(self, child: Child, waiting: deque[Job]) -> None:
        """Give a child its part of what waits, so that all of them end together."""
        part = BATCH if len(self.busy) < 2 else min(BATCH, max(FEW, len(waiting) // len(self.busy)))
        while waiting and len(child.jobs) < part and not child.jobs[0].alone and not waiting[0].alone:
            child.give(waiting.popleft())

    def _child(self, *, fresh: bool) -> Child:
        """Take an idle child or start one.  fresh: nothing it did before may count against the next file."""
        if fresh and self.idle:
            end(self.idle.pop().process)
        return self.idle.pop() if self.idle and not fresh else self._start()

    def _useful(self, files: int) -> int:
        """A second child pays only for more files than one batch holds."""
        return self.limits.children if files > BATCH or self.busy else 1

    def _turn(self, waiting: deque[Job]) -> Iterator[tuple[str, Facts]]:
        with selectors.PollSelector() as ready:  # two pipes a child: epoll would cost five calls a turn to set up
            for child in self.busy:
                ready.register(pipe(child.process.stdout), selectors.EVENT_READ, child)
                if child.feed:
                    ready.register(pipe(child.process.stdin), selectors.EVENT_WRITE, child)
            events = ready.select(min(0.5, self.limits.file_seconds / 4))
        self.pulse.beat()
        for key, event in events:
            if event & selectors.EVENT_WRITE:
                key.data.write()
        for key, event in events:
            if event & selectors.EVENT_READ:
                yield from self._collect(key.data, waiting)
        for child in list(self.busy):
            if time.monotonic() - child.since > self.limits.file_seconds * STARVED:
                yield from self._bury(child, waiting, "parse_timeout")

    def _collect(self, child: Child, waiting: deque[Job]) -> Iterator[tuple[str, Facts]]:
        answers = child.read()
        if answers is None or len(child.answer) > self.limits.answer_bytes:
            yield from self._bury(child, waiting, "parse_failed")
            return
        yield from answers
        if not child.jobs:
            self.busy.remove(child)
            self.idle.append(child)

    def _bury(self, child: Child, waiting: deque[Job], reason: str) -> Iterator[tuple[str, Facts]]:
        """End a child; the file it was at is to blame if it was too slow or kills a second child."""
        self.busy.remove(child)
        if end(child.process, grace=1.0) == -signal.SIGPROF:
            reason = "parse_timeout"
        culprit, *others = child.jobs
        waiting.extendleft(reversed(others))
        if reason == "parse_timeout" or culprit.alone:
            yield culprit.key, {"skipped": reason}
        else:
            culprit.alone = True
            waiting.appendleft(culprit)

    def _start(self) -> Child:
        bounds = {
            resource.RLIMIT_AS: self.limits.memory_bytes,
            resource.RLIMIT_CPU: self.limits.cpu_seconds,
            resource.RLIMIT_FSIZE: 0,
            resource.RLIMIT_CORE: 0,
        }
        process = guarded(
            # -P: the directory we happen to be in must not supply modules
            [sys.executable, "-P", "-S", "-s", "-c", BEGIN, f"{self.limits.file_seconds}"],
            bounds,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={
                "PATH": os.defpath,
                "LC_ALL": "C.UTF-8",
                "PYTHONPATH": os.pathsep.join(places()),
                "PYTHONHASHSEED": "0",
            },
            cwd="/",
        )
        os.set_blocking(pipe(process.stdin).fileno(), False)
        return Child(process)


@cache
def places() -> list[str]:
    """Where a child finds its modules: this program and the grammars."""
    grammars = find_spec("tree_sitter")
    installed = [] if grammars is None or grammars.origin is None else [str(Path(grammars.origin).parents[1])]
    return [str(ROOT), *installed]
