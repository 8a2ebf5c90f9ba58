"""The parsing process: reads blobs from stdin, writes one line of JSON facts for each to stdout.

Started by `parsers`, which sets its limits and kills it at will: a
parser may hang, crash or eat memory on hostile text, and cannot be stopped from inside.
"""

import gc
import json
import signal
import sys
from typing import BinaryIO

from tasks.inventory.hints import hints
from tasks.inventory.languages import reader
from tasks.inventory.model import Facts
from tasks.inventory.text import Unreadable, utf8


def facts_of(source: bytes, language: str) -> Facts:
    """Extract facts, or {"skipped": code} for a file that cannot be read."""
    try:
        return _read(utf8(source, language), language)
    except Unreadable as refusal:
        return {"skipped": refusal.reason}
    except Exception:  # noqa: BLE001 - whatever a hostile file provokes concerns this file alone
        return {"skipped": "parse_failed"}


def _read(source: bytes, language: str) -> Facts:
    facts, found = reader(language).extract(source, language), hints(source, language)
    return {**facts, "hints": found} if found else facts


def serve(requests: BinaryIO, answers: BinaryIO, seconds: float) -> None:
    """Answer requests until stdin ends.  A request is `<language> <size>` on a line and so many bytes.

    A file that takes more seconds of the processor ends this process by SIGPROF, wherever it is.
    """
    while line := requests.readline():
        language, size = line.decode("ascii").split()
        source = requests.read(int(size))
        signal.setitimer(signal.ITIMER_PROF, seconds)
        answers.write(json.dumps(facts_of(source, language), separators=(",", ":")).encode() + b"\n")
        answers.flush()


def main() -> None:
    """Serve the process that started this one; the argument is the seconds a file may take."""
    gc.disable()  # syntax trees have no cycles, and collections cost a third of the time
    serve(sys.stdin.buffer, sys.stdout.buffer, float(sys.argv[1]))
