"""The output of `fairlane submit --wait`: on a terminal one line that is rewritten, elsewhere one line per change."""

from __future__ import annotations

import os
import sys
from typing import Self

import click
from fairlane_client import Job
from testlist.reports.listing import printable

from app.domain.words import counted

ERASE = "\r\x1b[K"
STEPS = 10  # lines per phase where lines are not rewritten


def described(job: Job) -> str:
    """Describe a job under way: why, where and how long it waits, or its phase and progress."""
    wait, progress = job["wait"], job["progress"]
    if wait:
        place = f", number {wait['position']:,}" if wait["position"] else ""
        times = "" if wait["eta_low"] is None else f" Starts in about {wait['eta_low']:,} to {wait['eta_high']:,} s."
        return printable(f"{job['status']} ({wait['reason']}{place}): {wait['text']}{times}")
    if progress:
        total = progress["total"]
        count = (
            f" {progress['done']:,} of {counted(total, 'file')} ({100 * progress['done'] // total} %)" if total else ""
        )
        return printable(f"{job['status']}: {progress['phase']}{count}")
    return printable(str(job["status"]))


class WaitLine:
    """Writes to stderr, so that stdout contains the result only.

    only_live: write nothing but the line that is rewritten, for programs that read stdout.
    """

    def __init__(self, *, only_live: bool) -> None:
        self._is_live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._is_silent = only_live and not self._is_live
        self._shown: object = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_live and self._shown is not None:
            click.echo(ERASE, nl=False, err=True, color=True)  # otherwise click removes the escape sequence

    def show(self, job: Job) -> None:
        """Show the state of the job, if it has changed."""
        news = described(job) if self._is_live else _change(job)
        if self._is_silent or news == self._shown:
            return
        self._shown = news
        if self._is_live:
            click.echo(f"{ERASE}{described(job)[: _columns() - 1]}", nl=False, err=True, color=True)
        else:
            click.echo(described(job), err=True)


def _change(job: Job) -> tuple[object, ...]:
    """The changes that are printed: estimates change all the time, and files by the thousand."""
    wait, progress = job["wait"], job["progress"]
    reason, position = (wait["reason"], wait["position"]) if wait else (None, None)
    phase = progress["phase"] if progress else None
    step = STEPS * progress["done"] // progress["total"] if progress and progress["total"] else 0
    return job["status"], reason, position, phase, step


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except OSError:
        return 80
