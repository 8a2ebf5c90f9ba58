"""Beat with a clock that a test sets: `celery -A tasks beat --scheduler tests.e2e.virtual_beat:VirtualScheduler`."""

from __future__ import annotations

import mmap
import os
import struct
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.store.core import clock
from tasks.scheduler import PgScheduler
from tasks.wiring import wired

_SECONDS = struct.Struct("=d")
#: Between two looks at the clock, instead of the seconds that a tick asks for.
LOOK_SECONDS = 0.002


class VirtualClock:
    """An instant in a file that processes share, and up to where each of some beats has sent what is due."""

    def __init__(self, path: Path, *, beats: int = 0) -> None:
        """beats: how many; 0: the file exists already."""
        if beats:
            path.write_bytes(bytes(_SECONDS.size * (1 + beats)))
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), 0)

    def set(self, instant: float) -> None:
        _SECONDS.pack_into(self._memory, 0, instant)

    def read(self) -> float:
        return float(_SECONDS.unpack_from(self._memory, 0)[0])

    def has_sent(self, beat: int, instant: float) -> None:
        _SECONDS.pack_into(self._memory, _SECONDS.size * (1 + beat), instant)

    def sent(self) -> float:
        """Up to when a beat that led has sent what was due."""
        return max(one[0] for one in _SECONDS.iter_unpack(self._memory[_SECONDS.size :]))


class _Frozen:
    """The clock of a tick."""

    def __init__(self, instant: float) -> None:
        self._instant = datetime.fromtimestamp(instant, UTC)

    def now(self) -> datetime:
        return self._instant


class VirtualScheduler(PgScheduler):
    """Everything of a tick is the service's, but for the time."""

    def tick(self, *arguments: Any, **given: Any) -> float:
        shared, beat = VirtualClock(Path(os.environ["VIRTUAL_CLOCK"])), int(os.environ["VIRTUAL_BEAT"])
        instant = shared.read()
        clock._clocks[wired().uow.engine] = _Frozen(instant)  # type: ignore[assignment]  # all that a tick asks it
        super().tick(*arguments, **given)
        if self._leadership is not None:
            shared.has_sent(beat, instant)
        return LOOK_SECONDS
