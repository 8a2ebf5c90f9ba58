"""Show the engine's progress on the terminal's stderr; elsewhere show nothing."""

from __future__ import annotations

import sys
from typing import Any, Self


class ProgressBar:
    """A checkpoint that draws a progress bar."""

    def __init__(self) -> None:
        self._drawn: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            # rich is slow to import, and programs do not need it
            from rich.console import Console  # noqa: PLC0415
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            self._drawn = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._drawn.add_task("fetching", total=None)
            self._drawn.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._drawn is not None:
            self._drawn.stop()

    def __call__(self, phase: str, done: int, total: int) -> None:
        """Show the progress.  total: 0 if it is not known yet."""
        if self._drawn is not None:
            self._drawn.update(self._task, description=phase, completed=done, total=total or None)
