"""Which ids in a log the database does not know: what a lagging standby lost when it took over."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

from app.store.core.unit_of_work import UnitOfWork
from app.store.operations.faults import lost_ids

#: Ids of one statement.
BATCH = 1_000
_HEX = "[0-9a-fA-F]"
#: The id of a job, anywhere in a line, or of a message to a webhook, as its header `webhook-id` has it.
_ID = re.compile(rf"\b(?:(msg_){_HEX}{{32}}|{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}})\b")


@dataclass(frozen=True, slots=True)
class Lost:
    """Ids that the database does not know, in the order in which they were given.

    looked_up: how many different ones were; jobs: of jobs; messages: of messages to webhooks.
    """

    looked_up: int
    jobs: Sequence[UUID]
    messages: Sequence[str]


def find_lost_ids(uow: UnitOfWork, lines: Iterable[str]) -> Lost:
    """Look up the ids in these lines; other text in a line does not matter."""
    names = dict.fromkeys(found[0].lower() for line in lines for found in _ID.finditer(line))
    jobs = [UUID(name) for name in names if not name.startswith("msg_")]
    messages = {UUID(name.removeprefix("msg_")): name for name in names if name.startswith("msg_")}
    known = set[UUID]()
    for some in _batches(jobs):
        with uow.begin() as tx:
            known |= lost_ids.known_jobs(tx, some)
    for some in _batches(messages):
        with uow.begin() as tx:
            known |= lost_ids.known_messages(tx, some)
    return Lost(
        len(names),
        [job for job in jobs if job not in known],
        [name for message, name in messages.items() if message not in known],
    )


def _batches(ids: Iterable[UUID]) -> Iterator[list[UUID]]:
    rest = iter(ids)
    while some := list(islice(rest, BATCH)):
        yield some
