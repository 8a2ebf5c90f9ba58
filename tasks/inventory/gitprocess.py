"""One git process: hardened arguments, scrubbed environment, limits, and an end in every case."""

import os
import resource
import selectors
import signal
import subprocess
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tasks.inventory.errors import InventoryError
from tasks.inventory.guard import end, guarded, pipe
from tasks.inventory.pulse import Pulse

CHUNK: Final = 1 << 18
#: A transfer runs a helper process, which outlives a git that is killed with us.  This shell is told when
#: we die and takes its whole process group along; what it runs is given as words, never as text.
KEEPER: Final = 'trap "kill -9 0" TERM; exec 3<&0; "$@" <&3 3<&- & exec 3<&-; wait $!'
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
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO"):
        if name in os.environ:
            env[name] = os.environ[name]
    for number, (key, value) in enumerate(pairs):
        env |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return env


@dataclass(slots=True)
class GitProcess:
    """One run of git.  `output` streams stdout; stderr and exit code are there afterwards."""

    argv: Sequence[str]
    env: Mapping[str, str]
    limits: GitLimits
    pulse: Pulse
    directory: Path | None = None
    file_bytes: int | None = None  # RLIMIT_FSIZE, limits.pack_bytes by default
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
        """Run to the end and return stdout."""
        return b"".join(self.output(feed))

    def _start(self) -> "subprocess.Popen[bytes]":
        size = self.limits.pack_bytes if self.file_bytes is None else self.file_bytes
        argv = ["git", *(("-C", str(self.directory)) if self.directory else ()), *self.argv]
        transfers = bool(self.env["GIT_ALLOW_PROTOCOL"])
        bounds = {resource.RLIMIT_FSIZE: size, resource.RLIMIT_CORE: 0}
        try:
            return guarded(
                ["/bin/sh", "-c", KEEPER, "git", *argv] if transfers else argv,
                bounds,
                signal.SIGTERM if transfers else signal.SIGKILL,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(self.env),
            )
        except FileNotFoundError as missing:
            raise InventoryError("git_failed", "git is not installed on this machine.") from missing

    def _pump(
        self, process: "subprocess.Popen[bytes]", waiting: selectors.BaseSelector, feed: memoryview, deadline: float
    ) -> Generator[bytes, None, None]:
        stdin, stdout, stderr = map(pipe, (process.stdin, process.stdout, process.stderr))
        for stream in (stdin, stdout, stderr):
            os.set_blocking(stream.fileno(), False)
            waiting.register(stream, selectors.EVENT_WRITE if stream is stdin else selectors.EVENT_READ)
        while waiting.get_map():
            ready = waiting.select(TICK)
            self.pulse.beat()
            if time.monotonic() > deadline:
                raise InventoryError("git_timeout", "The Git host took too long to answer.")
            for key, _ in ready:
                if key.fileobj is stdin:
                    feed = feed[_write(key.fd, feed) :]
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


def _write(fd: int, feed: memoryview) -> int:
    try:
        return os.write(fd, feed[:65_536]) if feed else 0
    except BrokenPipeError:  # git stopped reading; its exit code says why
        return len(feed)
