"""Run a system's nodes, and see what their jobs left behind."""

import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
STOP_SECONDS = 60.0
LOOK_SECONDS = 0.01


class Nodes:
    """Processes of one kind.  folder: where their jobs leave marks; beside it lies their log."""

    def __init__(self, folder: Path, argv: list[str], environment: dict[str, str]) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        self._argv, self._environment = argv, environment
        self._log = folder.with_suffix(".log")
        self._log.write_bytes(b"")

    def start(self) -> subprocess.Popen[bytes]:
        """Start one more."""
        with self._log.open("ab") as log:
            process = subprocess.Popen(
                self._argv, cwd=ROOT, env=self._environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        self.processes.append(process)
        return process

    def replace_dead(self) -> bool:
        """Start one for each that has ended.  -> whether there was any."""
        dead = [process for process in self.processes if process.poll() is not None]
        for process in dead:
            self.processes.remove(process)
            self.start()
        return bool(dead)

    def stop(self) -> None:
        """Stop all, warmly; one that does not end is killed."""
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def done(self) -> int:
        """Jobs that left a byte."""
        return sum(path.stat().st_size for path in self.folder.iterdir())

    def stamps(self) -> list[float]:
        """Seconds that stamped jobs left, in no order."""
        lines = "".join(path.read_text() for path in self.folder.iterdir()).split()
        return [float(number) for line in lines if (number := line.lstrip("."))]  # a no-op job's byte has no line

    def wait(self, jobs: int, seconds: float) -> float:
        """Wait for so many jobs.  -> when it was seen, on the clock of time.monotonic.  Raises: TimeoutError."""
        deadline = time.monotonic() + seconds
        while (done := self.done()) < jobs:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{done} of {jobs} after {seconds:.0f} s; log: {self._log.read_text()[-1500:]}")
            time.sleep(LOOK_SECONDS)
        return time.monotonic()
