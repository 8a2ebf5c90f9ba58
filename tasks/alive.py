"""A node's signs of life: every few seconds it notes that its event loop runs, for `fairlane alive`."""

import socket
from functools import cache
from pathlib import Path
from typing import Any

import structlog
from celery.signals import worker_ready

from app import signs_of_life
from app.settings import load

log = structlog.get_logger(__name__)

_is_logged = False


@worker_ready.connect
def begin(sender: Any, **_: Any) -> None:
    """Start giving signs.  A restarting consumer clears its timer, and calls this again once it is ready."""
    sign(sender.hostname)
    sender.timer.call_repeatedly(signs_of_life.SECONDS, sign, (sender.hostname,))


def sign_of_beat() -> None:
    """The sign of the beat of this host."""
    sign(f"beat@{socket.gethostname()}")


def sign(name: str) -> None:
    """Give one sign; a home that cannot be written to is logged once and stops no work."""
    global _is_logged  # noqa: PLW0603 - of the process
    try:
        signs_of_life.give(_home(), name)
    except OSError as error:
        if not _is_logged:
            log.warning("no_sign_of_life", error=type(error).__name__, code=error.errno)
        _is_logged = True


@cache
def _home() -> Path:
    return load().home
