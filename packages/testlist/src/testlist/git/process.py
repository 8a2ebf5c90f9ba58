"""One git process: hardened arguments, scrubbed environment, limits, and an end in every case."""

import os
import resource
import selectors
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from testlist.errors import InventoryError
from testlist.progress import Progress
from testlist.sandbox.guard import end, guarded, program
from testlist.sandbox.process import Order, Process

CHUNK: Final = 1 << 18
#: variables that name where certificates of authorities are
CERTIFICATES: Final = ("SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO")
#: seconds between two looks at the clock
TICK: Final = 0.5

#: Whatever a repository's own configuration says, nothing is run, asked for, followed or repacked.
HARDENED: Final = (
    ("protocol.allow", "never"),
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.symlinks", "false"),
    ("core.askPass", "false"),
    ("core.bigFileThreshold", "1m"),  # larger blobs are streamed, never held in memory
    ("core.commitGraph", "false"),  # commits are read as they are, never from a list of what they say
    ("core.deltaBaseCacheLimit", "16m"),
    ("core.packedGitLimit", "32m"),
    ("core.packedGitWindowSize", "4m"),
    ("credential.helper", ""),
    ("fetch.unpackLimit", "1"),  # always one pack file, so that RLIMIT_FSIZE bounds a fetch
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    # old commits of honest projects have these; they harm nobody who never checks out
    ("fetch.fsck.badTimezone", "ignore"),
    ("fetch.fsck.missingSpaceBeforeDate", "ignore"),
    ("fetch.fsck.zeroPaddedFilemode", "ignore"),
    ("http.followRedirects", "false"),
    ("pack.threads", "1"),
    ("protocol.version", "2"),
    ("transfer.bundleURI", "false"),
    ("transfer.fsckObjects", "true"),
)


@dataclass(frozen=True, slots=True)
class GitLimits:
    """Bounds of one repository.  Sizes are bytes, times seconds."""

    wall_seconds: float = 300.0  # one git process
    stall_seconds: int = 20  # slower than 1,000 bytes a second for this long ends a transfer
    pack_bytes: int = 256 << 20  # one file on disk
    total_bytes: int = 1 << 30  # all of them
    blob_bytes: int = 1 << 20  # a candidate larger than this is too_large
    entries: int = 200_000
    depth: int = 50
    path_bytes: int = 4_096
    memory_bytes: int = 224 << 20  # what one git may allocate; maps of files come on top
    address_bytes: int = 2 << 30  # both together
    processor_seconds: int = 8  # of one git that is asked once; for one that is asked often see `Conversation`
    answer_bytes: int = 4 << 20  # what it says, where that is wanted whole
    message_bytes: int = 1 << 20  # one commit or tag
    tree_bytes: int = 16 << 20  # one folder
    trees_bytes: int = 64 << 20  # all of them

    def bounds(self, *, file_bytes: int | None = None) -> dict[int, int]:
        """RLIMIT_* -> value, for any git."""
        return {
            resource.RLIMIT_AS: self.address_bytes,
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_CPU: self.processor_seconds,
            resource.RLIMIT_DATA: self.memory_bytes,
            resource.RLIMIT_FSIZE: self.pack_bytes if file_bytes is None else file_bytes,
        }


def environment(settings: Sequence[tuple[str, str]], *, protocols: str = "") -> dict[str, str]:
    """Build git's whole environment.  settings go in by environment, so secrets stay out of argv.

    protocols: `https`, `http`, or empty for a process that must not reach any network; the variable wins over
    every configuration, and over git's wish to fetch objects it misses.
    """
    pairs = [*HARDENED, *settings]
    env = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C",  # messages are matched by their English text
        "GIT_ALLOW_PROTOCOL": protocols,
        "GIT_ASKPASS": "/bin/false",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_NO_LAZY_FETCH": "1",  # git 2.45 and later; for earlier ones see `protocols`
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_CONFIG_COUNT": str(len(pairs)),
    }
    for name in CERTIFICATES:
        if name in os.environ:
            env[name] = os.environ[name]
    for number, (key, value) in enumerate(pairs):
        env |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return env


@dataclass(frozen=True, slots=True)
class Host:
    """What a git may reach: one port, over IPv6 if its host has such an address."""

    port: int
    six: bool = False


def launch(
    argv: Sequence[str],
    env: Mapping[str, str],
    bounds: Mapping[int, int],
    *,
    directory: Path | None = None,
    reads: Sequence[Path] = (),
    host: Host | None = None,
    writes: bool = False,
) -> Process:
    """Start a git under limits, with pipes, in its sandbox.  Raises: InventoryError git_failed.

    directory: where it works, and all that it reads beside `reads`; with a host or `writes`, it also writes there.
    """
    try:
        git = program("git")
    except FileNotFoundError as missing:
        raise InventoryError("git_failed", "git is not installed on this machine.") from missing
    order = Order(
        argv=[git, *argv],
        env=env,
        limits=bounds,
        folder=os.path.realpath(directory) if directory else None,
        writes=writes or host is not None,
        reads=[str(path) for path in reads],
        ports=(host.port,) if host else (),
        datagrams=host is not None and host.six,
        certificates=[env[name] for name in CERTIFICATES if name in env],
    )
    return guarded(order, ["git"], errors=True)


@dataclass(slots=True)
class GitProcess:
    """One run of git.  `output` streams stdout; stderr and exit code are there afterwards."""

    argv: Sequence[str]
    env: Mapping[str, str]
    limits: GitLimits
    progress: Progress
    directory: Path | None = None
    host: Host | None = None
    file_bytes: int | None = None  # RLIMIT_FSIZE, limits.pack_bytes by default
    reads: Sequence[Path] = ()  # beside the directory
    writes: bool = False  # into the directory, without a host as well
    errors: bytes = b""
    exit_code: int = -1

    def output(self, feed: bytes = b"") -> Generator[bytes, None, None]:
        """Run with `feed` on stdin and yield stdout in chunks.  Raises: InventoryError git_timeout."""
        deadline = time.monotonic() + self.limits.wall_seconds
        process = self._start()
        try:
            with selectors.DefaultSelector() as waiting:
                yield from self._pump(process, waiting, memoryview(feed), deadline)
        finally:
            self.exit_code = end(process, grace=TICK)

    def run(self, feed: bytes = b"") -> bytes:
        """Run to the end and return stdout.  Raises: InventoryError, repository_too_large for a long answer."""
        answer = bytearray()
        with closing(self.output(feed)) as output:
            for chunk in output:
                answer += chunk
                if len(answer) > self.limits.answer_bytes:
                    raise InventoryError("repository_too_large", "The Git host answers with more than the limit.")
        return bytes(answer)

    def _start(self) -> Process:
        bounds = self.limits.bounds(file_bytes=self.file_bytes)
        return launch(
            self.argv, self.env, bounds,
            directory=self.directory, reads=self.reads, host=self.host, writes=self.writes,
        )  # fmt: skip

    def _pump(
        self, process: Process, waiting: selectors.BaseSelector, feed: memoryview, deadline: float
    ) -> Generator[bytes, None, None]:
        stdin, stdout, stderr = process.stdin, process.stdout, process.errors
        for stream in (stdin, stdout, stderr):
            os.set_blocking(stream.fileno(), False)
            waiting.register(stream, selectors.EVENT_WRITE if stream is stdin else selectors.EVENT_READ)
        while waiting.get_map():
            ready = waiting.select(TICK)
            self.progress.beat()
            if time.monotonic() > deadline:
                raise InventoryError("git_timeout", "The Git host took too long to answer.")
            for key, _ in ready:
                if key.fileobj is stdin:
                    feed = feed[write(key.fd, feed) :]
                    if not feed:
                        waiting.unregister(stdin)
                        stdin.close()
                elif data := os.read(key.fd, CHUNK):
                    if key.fileobj is stdout:
                        yield data
                    else:
                        self.errors = (self.errors + data)[-8_192:]
                else:
                    waiting.unregister(key.fileobj)


def write(fd: int, feed: memoryview) -> int:
    """Send what a pipe takes at once; returns how many bytes."""
    try:
        return os.write(fd, feed[:65_536]) if feed else 0
    except BrokenPipeError:  # git stopped reading; its exit code says why
        return len(feed)
