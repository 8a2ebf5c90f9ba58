"""Writing on stdout, whose reader may end early, or which may be full or closed."""

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

#: exit codes: as a shell says SIGPIPE, and for what could not be written
READER_ENDED, NOT_WRITTEN = 141, 3
_NOWHERE: Final = os.devnull


def write(text: Iterable[str]) -> int:
    """Write all of it.  -> the exit code: 0, READER_ENDED as after `head`, or NOT_WRITTEN, which stderr explains."""
    if sys.stdout is None:
        return NOT_WRITTEN
    try:
        sys.stdout.writelines(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _forget()
        return READER_ENDED
    except OSError as error:
        _forget()
        sys.stderr.write(f"testlist: the output cannot be written: {error.strerror}\n")
        return NOT_WRITTEN
    return 0


def _forget() -> None:
    """Drop what is still to be written: Python would try it once more when it ends, and say that it failed."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(_NOWHERE, os.O_WRONLY), sys.stdout.fileno())
