"""The service's own worker with naps for both services, whose transactions say under which lease they are.

tests/e2e/fire.py starts it.  FIRE_MISTAKE takes one rule away, to see that it is missed.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import text

import tasks.analysis
import tasks.wiring
from app.domain.lifecycle import Outcome
from app.domain.repositories import Repository
from app.services.analyses.analyse import Taken
from app.services.jobs import start
from app.specview.builtin import BuiltIn
from app.specview.generator import Part, Phrased
from app.store.analyses.inventories import FileRow
from app.store.core import connections
from app.store.core.session import Session
from app.store.core.unit_of_work import UnitOfWork
from app.store.jobs import messages, slots
from bench.fairness.worker import SUMMARY, app, nap
from tasks.base import FairTask

#: An analysis of the repository `slow` goes on when this file is there.
GO_ON = Path(os.environ["GO_ON"])
SLOW = "slow"
#: Where a test asks for it, a start stands still between reading the tier and taking the slot while this file is there.
STALL = Path(os.environ["STALL"])
TEST = {"framework": "pytest", "suites": [], "name": "test_a", "line": 1, "status": "active", "kind": "test"}
FILE = FileRow("tests/test_a.py", "a" * 40, "pytest", [TEST], None)
#: Of a sentence, in milliseconds.
NAPS = (5, 20, 50, 100, 500)
LEASE = text("SELECT set_config('fire.lease', :lease, true)")
UNFENCED, found_once = re.subn(
    r"broker_fence\(.+?\)\)", "(SELECT * FROM broker_message WHERE task_id = :task_id)", messages._FENCE.text
)
assert found_once == 1

under = {"lease": ""}  # a child has one delivery at a time; its heartbeat writes for the same one
take, acquire, begin = FairTask._take, slots.acquire, Session.begin


def remembered(self: FairTask, *given: Any) -> Outcome:
    under["lease"] = str(self.delivery.lease_token)
    return take(self, *given)


def telling(self: Session) -> None:
    begin(self)
    self.write(LEASE, {"lease": under["lease"]})


def limitless(*_given: object) -> int:
    return 99


def unlocked(*_given: object) -> None:
    """Hold nothing."""


def stalled(*given: Any, **named: Any) -> None:
    while STALL.exists():  # the moment in which the tier may change, made long
        STALL.with_name("stalled").touch()
        time.sleep(0.02)  # a pause between two polls
    acquire(*given, **named)


def found(kit: Any, repository: Repository, *given: Any) -> Taken:
    """A nap that finds a test, and stores it: a result without one is billed to nobody."""
    if repository.name == SLOW:
        while not GO_ON.exists():
            time.sleep(0.02)  # a pause between two polls
        return Taken([FILE], SUMMARY)
    return replace(nap(kit, repository, *given), files=[FILE])


class Napping(BuiltIn):
    """The generator that needs nobody, but not as quick."""

    def phrase(self, parts: Iterable[Part], language: str) -> Iterator[Phrased]:
        """Sentences, after a nap."""
        time.sleep(random.choice(NAPS) / 1000)
        return super().phrase(parts, language)


tasks.analysis.take = found
tasks.wiring.generator_of = lambda *_: Napping()
FairTask._take = remembered  # type: ignore[method-assign]
Session.begin = telling  # type: ignore[method-assign]
UnitOfWork.once = UnitOfWork.begin  # type: ignore[method-assign]  # a heartbeat tells it too
if "FIRE_IDLE" in os.environ:  # how long a client may stop in a transaction
    connections.LIMITS["idle_in_transaction_session_timeout"] = os.environ["FIRE_IDLE"]
match os.environ.get("FIRE_MISTAKE", ""):
    case "no limit":
        start._limit = limitless
    case "no lock":
        messages.lock_users = unlocked
        slots.acquire = stalled
    case "none, but slow":
        slots.acquire = stalled
    case "no fence":
        messages._FENCE = text(UNFENCED)
    case "":
        pass
    case other:
        raise ValueError(other)

__all__ = ["app"]
