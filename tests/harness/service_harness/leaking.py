"""A process that leaks what its argument says, a piece for each line that it reads, and answers each line.

Its argument is one of memory, descriptors, threads and nothing; a piece is a megabyte, a descriptor or a thread.
"""

from __future__ import annotations

import os
import sys
import threading

MB = 1 << 20
_kept: list[object] = []


def _memory() -> None:
    _kept.append(b"x" * (MB + len(_kept)))


def _descriptors() -> None:
    _kept.append(os.open(os.devnull, os.O_RDONLY))


def _threads() -> None:
    thread = threading.Thread(target=threading.Event().wait, daemon=True)
    thread.start()
    _kept.append(thread)


def _nothing() -> None:
    len(b"x" * (MB + len(_kept)))


def main() -> None:
    leak = {"memory": _memory, "descriptors": _descriptors, "threads": _threads, "nothing": _nothing}[sys.argv[1]]
    for line in sys.stdin:
        leak()
        print(line, end="", flush=True)


if __name__ == "__main__":
    main()
