"""A table that forked processes share."""

from __future__ import annotations

import subprocess
import sys

import pytest

from app import shared_table
from app.shared_table import WAYS, SharedTable

#: Each process prints how many of its tokens were granted; the first one is killed while it holds the key's row.
TAKE = """
import os, signal, sys
from app import shared_table
from app.errors import TooManyRequests
from app.web.limits.read_buckets import Buckets
shared_table.share()
begin, go = os.pipe()
children = []
for number in range(4):
    child = os.fork()
    if not child:
        bucket = Buckets(400, lambda: 1.0, shared_table.table())
        if number == 0:
            with bucket.table.row("a"):
                os.kill(os.getpid(), signal.SIGKILL)
        os.close(go)
        os.read(begin, 1)
        granted = 0
        for _ in range(300):
            try:
                bucket.take("a")
                granted += 1
            except TooManyRequests:
                pass
        os.write(1, f"{granted}\\n".encode())
        os._exit(0)
    children.append(child)
os.waitpid(children[0], 0)
os.close(begin)
os.close(go)
for child in children[1:]:
    os.waitpid(child, 0)
"""

#: Processes with many threads each, which lock many rows; each prints how many steps succeeded, and what failed.
THREADS = """
import os
from threading import Thread
from app import shared_table
shared_table.share()
table = shared_table.table()
children = []
for number in range(3):
    child = os.fork()
    if not child:
        done, failed = [], set()
        def step(first):
            for key in range(1500):
                try:
                    with table.row(str(first * 7 + key)) as row:
                        row.numbers = (1.0, 1.0)
                    done.append(key)
                except OSError as error:
                    failed.add(type(error).__name__ + str(error.errno))
        threads = [Thread(target=step, args=(number * 8 + one,)) for one in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        os.write(1, f"{len(done)} {failed or ''}\\n".encode())
        os._exit(0)
    children.append(child)
for child in children:
    os.waitpid(child, 0)
"""


def test_threads_of_several_processes_lock_rows_at_once() -> None:
    told = subprocess.run(
        [sys.executable, "-c", THREADS], check=True, capture_output=True, text=True, timeout=120
    ).stdout
    assert [line.strip() for line in told.splitlines()] == ["12000"] * 3


@pytest.mark.proof
def test_processes_together_take_no_more_than_the_bucket_holds() -> None:
    told = subprocess.run([sys.executable, "-c", TAKE], check=True, capture_output=True, text=True, timeout=120).stdout
    granted = [int(line) for line in told.split()]
    assert len(granted) == 3
    assert sum(granted) == 400


def test_keys_are_apart_and_the_least_recent_of_a_full_set_is_dropped() -> None:
    table = SharedTable(sets=1)
    for time in range(WAYS):
        with table.row(f"key {time}") as row:
            assert row.numbers is None
            row.numbers = (float(time * 10), float(time))
    with table.row("key 0") as row:  # used again
        assert row.numbers == (0.0, 0.0)
        row.numbers = (1.0, float(WAYS))
    with table.row("one more") as row:
        row.numbers = (5.0, float(WAYS))
    found = {}
    for key in ["key 0", "key 1", "key 2", "one more"]:
        with table.row(key) as row:
            found[key] = row.numbers
    assert found == {"key 0": (1.0, 8.0), "key 1": None, "key 2": (20.0, 2.0), "one more": (5.0, 8.0)}


def test_a_step_that_fails_stores_nothing() -> None:
    table = SharedTable()

    def step() -> None:
        with table.row("a") as row:
            row.numbers = (1.0, 1.0)
            raise KeyError

    with pytest.raises(KeyError):
        step()
    with table.row("a") as row:
        assert row.numbers is None


def test_a_process_that_nobody_shared_a_table_with_has_its_own() -> None:
    assert shared_table.table() is not shared_table.table()
