"""What a parsing process does: read blobs from a stream, write one line of JSON facts for each to another.

The launcher makes it, under limits and without rights, and it is killed at will: a parser may hang, crash or eat memory
on hostile text, and cannot be stopped from inside.
"""

import codecs
import signal
import sys
import unicodedata  # noqa: F401 - a codec asks for it when it meets the first \\N{…}, where nothing can be imported
from contextlib import suppress
from importlib import import_module
from typing import BinaryIO, Final

from testlist.kit.formats import BROKEN
from testlist.languages import is_configuration, reader
from testlist.model import Facts
from testlist.reports.hints import hints, pattern_of
from testlist.sandbox.plain_texts import plain_json
from testlist.sandbox.text import Unreadable, utf8

#: what `prepare` is told of an encoding: this and its name
CODEC: Final = "codec:"


def prepare(need: str) -> None:
    """Import what a language, or an encoding, takes: afterwards no file can be opened."""
    if need.startswith(CODEC):
        with suppress(LookupError):  # its module may need what this Python was built without
            codecs.lookup(need.removeprefix(CODEC))
        return
    reader(need)
    pattern_of(need)
    if "tree_sitter" in sys.modules:  # readers of plain formats do without
        import_module("testlist.sandbox.syntax").load(need)


def facts_of(source: bytes, language: str) -> Facts:
    """Extract facts, or {"skipped": code} for a file that cannot be read."""
    try:
        return _read(utf8(source, language), language)
    except Unreadable as refusal:
        return {"skipped": refusal.reason}
    except Exception:  # noqa: BLE001 - whatever a hostile file provokes concerns this file alone
        return {"skipped": "parse_failed"}


def _read(source: bytes, language: str) -> Facts:
    try:
        facts, found = reader(language).extract(source, language), hints(source, language)
    except BROKEN:
        if is_configuration(language):
            return {"data": None}
        raise
    return {**facts, "hints": found} if found else facts


def serve(requests: BinaryIO, answers: BinaryIO, seconds: float) -> None:
    """Answer requests until there are no more.  A request is `<language> <size>` on a line and so many bytes.

    A file that takes more seconds of the processor ends this process by SIGPROF, wherever it is.
    """
    while line := requests.readline():
        language, size = line.decode("ascii").split()
        source = requests.read(int(size))
        signal.setitimer(signal.ITIMER_PROF, seconds)
        answers.write(plain_json(facts_of(source, language)) + b"\n")
        answers.flush()


for _codec in ("utf-8-sig", "utf-16", "latin-1"):  # of files with a mark, and of what has no other
    codecs.lookup(_codec)
