"""The running service a benchmark measures: its own home, port, repositories and process tree."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
START_SECONDS = 120


@dataclass(frozen=True)
class Service:
    """url: where it serves; token: the operator's; seconds: from the command to `ready`; log: of all its processes."""

    url: str
    token: str
    seconds: float
    home: Path
    pid: int
    log: Path

    @property
    def port(self) -> int:
        """The port of the web."""
        return int(self.url.rpartition(":")[2])

    def fairlane(self, *arguments: str) -> str:
        """Run a command of the service's command line and return what it prints."""
        env = os.environ | {"FAIRLANE_HOME": str(self.home), "FAIRLANE_URL": self.url, "FAIRLANE_TOKEN": self.token}
        argv = [sys.executable, "-m", "app.cli", *arguments]
        done = subprocess.run(argv, env=env, cwd=ROOT, check=False, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{arguments}: {done.stdout}{done.stderr}")
        return done.stdout


@contextlib.contextmanager
def running(repositories: Path | None = None, *, home: Path | None = None, **env: str) -> Iterator[Service]:
    """Start `fairlane up` on a free port and a fresh home unless given; stop it at the end."""
    with tempfile.TemporaryDirectory(prefix="fairlane-bench-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        home = home or Path(folder) / "home"
        environment = os.environ | {"FAIRLANE_HOME": str(home), "RATE_LIMIT_PER_MINUTE": "1000000"} | env
        if repositories:
            environment["LOCAL_REPOS_ROOT"] = str(repositories)
        began = time.monotonic()
        argv = [sys.executable, "-m", "app.cli", "up", "--no-open", "--port", str(_free_port())]
        log = Path(folder) / "up.log"
        with log.open("w") as output:
            process = subprocess.Popen(argv, env=environment, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
        try:
            said = _wait_ready(process, log)
            token = re.search(r"fl_[\w-]+", said)
            url = re.search(r"^ready (\S+)", said, re.MULTILINE)
            seconds = time.monotonic() - began
            yield Service(url[1] if url else "", token[0] if token else "", seconds, home, process.pid, log)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def make_repository(path: Path, commits: int) -> list[str]:
    """A repository of as many commits, each with one test file; their ids, oldest first."""
    subprocess.run(["git", "init", "--quiet", str(path)], check=True)
    stream = []
    for number in range(commits):
        content = f"def test_{number}():\n    pass\n"
        stream.append(
            f"commit refs/heads/main\nmark :{number + 1}\ncommitter B <b@example.org> {1_700_000_000 + number} +0000\n"
            f"data 1\nx\nM 100644 inline tests/test_{number % 20}.py\ndata {len(content)}\n{content}\n"
        )
    marks = path / "marks"
    argv = ["git", "-C", str(path), "fast-import", "--quiet", f"--export-marks={marks}"]
    subprocess.run(argv, input="".join(stream).encode(), check=True)
    subprocess.run(["git", "-C", str(path), "symbolic-ref", "HEAD", "refs/heads/main"], check=True)
    lines = (line.split() for line in marks.read_text().splitlines())
    return [commit for _, commit in sorted((int(mark[1:]), commit) for mark, commit in lines)]


def _wait_ready(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        said = log.read_text()
        if re.search(r"^ready ", said, re.MULTILINE):
            return said
        time.sleep(0.01)
    sys.exit(f"the service did not start:\n{log.read_text()[-3000:]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
