"""What Celery prints past the log: nothing of it where the log is JSON, or else as lines of the log."""

import os
import sys
from typing import Any

from celery import Celery
from celery.apps import worker as worker_program
from celery.apps.beat import Beat
from celery.signals import celeryd_init
from kombu.utils.objects import cached_property

from app import json_lines


class QuietBeat(Beat):
    """Beat without its banner, which is text, where the log is JSON."""

    def run(self) -> None:
        """Run until a signal."""
        if json_lines.are_wanted():
            self.quiet = True
        super().run()


class QuietCelery(Celery):
    """Celery's app with this beat."""

    @cached_property
    def Beat(self) -> Any:  # noqa: N802 - Celery's
        """The program of beat."""
        return self.subclass_with_self(QuietBeat)


@celeryd_init.connect
def hush(instance: Any, **_: Any) -> None:
    """Let a worker print no banner either, and make lines of what its handlers of signals say."""
    if json_lines.are_wanted():
        instance.quiet = True
        worker_program.safe_say = say


def say(message: str, stream: Any = None) -> None:
    """Write a line from a handler of signals, which may have interrupted a logger."""
    os.write((stream or sys.stderr).fileno(), json_lines.json_line(message, logger="celery.apps.worker"))
