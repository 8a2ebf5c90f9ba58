"""Processes of `fairlane cell move -`, one for each cell to which accounts move: each moves whom it is told to."""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue
from typing import IO

from tests.e2e.cells_on_fire import Cells


@dataclass
class Mover:
    """One process, and what it has said since it was told of an account."""

    process: subprocess.Popen[str]
    _said: Queue[str] = field(default_factory=Queue)

    def __post_init__(self) -> None:
        for stream in (self.process.stdout, self.process.stderr):
            assert stream
            threading.Thread(target=self._listen, args=(stream,), daemon=True).start()

    def tell(self, email: str) -> None:
        """Let it move this account next."""
        assert self.process.stdin
        self.process.stdin.write(f"{email}\n")
        self.process.stdin.flush()

    @property
    def has_said(self) -> bool:
        """Whether it has moved or refused the account, or has ended."""
        return not self._said.empty() or self.process.poll() is not None

    def answer(self) -> float | str:
        """The pause of the account that was moved, or why it was not."""
        said = self._said.get(timeout=10)
        assert "Traceback" not in said, (said, list(self._said.queue))
        return float(json.loads(said)["pause_seconds"]) if said.startswith("{") else said.strip()

    def end(self) -> None:
        """Kill it; what it had begun is left to be settled."""
        self.process.kill()
        self.process.wait()
        assert self.process.stdin
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()

    def _listen(self, stream: IO[str]) -> None:
        with stream:
            for line in stream:
                self._said.put(line)


@dataclass
class Movers:
    """A mover for each cell; one that was killed, or has given up, is started again.  nice: of their processes."""

    cells: Cells
    folder: Path
    nice: str
    started: int = 0
    _movers: dict[str, Mover] = field(default_factory=dict)

    @classmethod
    @contextmanager
    def of(cls, cells: Cells, folder: Path, nice: str) -> Iterator[Movers]:
        """Start them all."""
        made = cls(cells, folder, nice)
        try:
            for name in cells.cells:
                made.to(name)
            yield made
        finally:
            for mover in made._movers.values():
                mover.end()

    def to(self, cell: str) -> Mover:
        """Who moves accounts there."""
        known = self._movers.get(cell)
        if known and known.process.poll() is not None:
            known.end()
            known = None
        if known is None:
            argv = ("cell", "move", "-", "--to", cell, "--json")
            known = self._movers[cell] = Mover(self.cells.fairlane(*argv, folder=self.folder, nice=self.nice))
            self.started += 1
        return known
