"""Killable parsing children: text in, facts out, and a reason instead of facts for a file that kills them."""

import os
import resource
import selectors
import signal
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Self

from testlist.model import Facts
from testlist.progress import Progress
from testlist.sandbox.answers import Unsound, facts_in
from testlist.sandbox.guard import end, guarded
from testlist.sandbox.process import Order, Process
from testlist.sandbox.text import codec

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

    @property
    def needs(self) -> frozenset[str]:
        """What a child must have imported before it reads this file: afterwards it can open none."""
        encoding = codec(self.source, self.language)
        return frozenset((self.language, f"codec:{encoding}") if encoding else (self.language,))


@dataclass(slots=True)
class Child:
    """One process and what it has been given, oldest first."""

    process: Process
    needs: frozenset[str]
    jobs: deque[Job] = field(default_factory=deque)
    feed: bytearray = field(default_factory=bytearray)
    answer: bytearray = field(default_factory=bytearray)
    since: float = 0.0  # when the first job in hand was begun
    fed: int = 0  # bytes it was sent
    ends: deque[int] = field(default_factory=deque)  # of them, up to the end of each job

    def give(self, job: Job) -> None:
        """Queue a job."""
        if not self.jobs:
            self.since = time.monotonic()
        self.jobs.append(job)
        self.feed += f"{job.language} {len(job.source)}\n".encode() + job.source
        self.ends.append(self.fed + len(self.feed))

    def write(self) -> None:
        """Send what the pipe takes."""
        try:
            sent = os.write(self.process.stdin.fileno(), self.feed[:CHUNK])
        except BrokenPipeError:  # its death is noticed where answers are read
            sent = len(self.feed)
        del self.feed[:sent]
        self.fed += sent

    def read(self, answers: list[tuple[str, Facts]]) -> bool:
        """Collect finished answers.  False: it is gone, or gave one that is none."""
        data = os.read(self.process.stdout.fileno(), CHUNK)
        self.answer += data
        if b"\n" not in data:
            return bool(data)
        *lines, rest = bytes(self.answer).split(b"\n")
        self.answer = bytearray(rest)
        self.since = time.monotonic()
        for line in lines:
            if not self.jobs or self.fed < self.ends[0]:  # nobody asked, or it cannot know
                return False
            try:
                found = facts_in(line)
            except Unsound:
                return False
            self.ends.popleft()
            answers.append((self.jobs.popleft().key, found))
        return True


@dataclass(slots=True)
class Parsers:
    """A few children behind one call.  Use as a context manager: leaving it ends them all."""

    limits: ParseLimits = field(default_factory=ParseLimits)
    progress: Progress = field(default_factory=Progress)
    idle: list[Child] = field(default_factory=list)
    busy: list[Child] = field(default_factory=list)
    needs: frozenset[str] = frozenset()  # of all files so far

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for child in self.idle + self.busy:
            end(child.process)
        self.idle.clear()
        self.busy.clear()

    def warm(self, languages: Iterable[str] = ()) -> None:
        """Start one child early, so that it gets ready for these languages while git works."""
        self.needs |= frozenset(languages)
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
            child = self._child(waiting[0])
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
            if not waiting[0].needs <= child.needs:
                return
            child.give(waiting.popleft())

    def _child(self, job: Job) -> Child:
        """Take an idle child or start one: for a file that is alone nothing done before may count against it."""
        self.needs |= job.needs
        while self.idle:
            child = self.idle.pop()
            if job.needs <= child.needs and not job.alone:
                return child
            end(child.process)
        return self._start()

    def _useful(self, files: int) -> int:
        """A second child pays only for more files than one batch holds."""
        return self.limits.children if files > BATCH or self.busy else 1

    def _turn(self, waiting: deque[Job]) -> Iterator[tuple[str, Facts]]:
        with selectors.PollSelector() as ready:  # two pipes a child: epoll would cost five calls a turn to set up
            for child in self.busy:
                ready.register(child.process.stdout, selectors.EVENT_READ, child)
                if child.feed:
                    ready.register(child.process.stdin, selectors.EVENT_WRITE, child)
            events = ready.select(min(0.5, self.limits.file_seconds / 4))
        self.progress.beat()
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
        answers: list[tuple[str, Facts]] = []
        sound = child.read(answers)
        yield from answers
        if not sound or len(child.answer) > self.limits.answer_bytes:
            yield from self._bury(child, waiting, "parse_failed")
        elif not child.jobs:
            self.busy.remove(child)
            self.idle.append(child)

    def _bury(self, child: Child, waiting: deque[Job], reason: str) -> Iterator[tuple[str, Facts]]:
        """End a child; the file it was at is to blame if it was too slow or kills a second child."""
        self.busy.remove(child)
        if end(child.process, grace=1.0) == -signal.SIGPROF:
            reason = "parse_timeout"
        if not child.jobs:
            return  # it said something unasked; what it answered before was asked for
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
        order = Order(limits=bounds, seconds=self.limits.file_seconds)
        process = guarded(order, ["parse", *sorted(self.needs)])
        os.set_blocking(process.stdin.fileno(), False)
        return Child(process, self.needs)
