"""Fill what the web keeps up to a bound, before anything is judged: until it is full it grows, and that is no leak.

At the soak's rate the caches of results would take some two hours to fill.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator, Sequence
from itertools import islice, product
from urllib.parse import urlencode

from bench.soak.ageing import Ageing, Job
from bench.soak.client import PATIENCE_SECONDS, Client
from bench.soak.commits import Commits

#: As many as the web answers at once, so that it has all its threads and all the connections of its pool as well: it
#: opens another one whenever more requests than before coincide, which a load of eight clients did for ten minutes.
THREADS = 32
#: Sheets of twenty tests fill their cache with some 6,500, outlines theirs with 3,500; and as many requests leave more
#: objects than the collector of garbage waits for (tests/web/test_filled_caches.py).
PAGES = 8_000
#: All tests of the soak match these, in any case.
NAME, PATH = "test_", "tests/test_"


def fill(url: str, people: Sequence[str], commits: Commits, ageing: Ageing, seed: int) -> list[str]:
    """Ask for the page of one result under so many filters.  Returns: faults."""

    def note(job: Job) -> None:
        ageing.accept(job)

    clients = [Client(url, random.Random(seed + n), people, commits, ageing, note) for n in range(THREADS)]
    job = _analysed(clients[0], ageing)
    left, lock = _addresses(job.id), threading.Lock()
    faults: list[str] = []

    def ask(client: Client) -> None:
        while not faults:
            with lock:
                path = next(left, None)
            if path is None:
                return
            if (status := client.get(path)) != 200:
                faults.append(f"{path}: {status}")

    threads = [threading.Thread(target=ask, args=(client,), daemon=True) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for client in clients:
        client.close()
    return faults


def _analysed(client: Client, ageing: Ageing) -> Job:
    client.ways["submit"]()
    until = time.monotonic() + PATIENCE_SECONDS
    while not ageing.recent:
        if time.monotonic() > until:
            raise SystemExit("the first job did not complete")
        time.sleep(0.1)
        ageing.note_ends()
    return ageing.recent[0]


def _addresses(job_id: str) -> Iterator[str]:
    for q, path in islice(product(spelled(NAME), spelled(PATH)), PAGES):
        yield f"/analyses/{job_id}?{urlencode({'q': q, 'path': path})}"


def spelled(word: str) -> list[str]:
    """A word with any of its letters in upper case."""
    return ["".join(letters) for letters in product(*({letter, letter.upper()} for letter in word))]
