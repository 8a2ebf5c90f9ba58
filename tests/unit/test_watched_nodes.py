"""What `fairlane drain` makes of what it sees of the nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import psycopg2
import pytest
from sqlalchemy.exc import OperationalError, ProgrammingError

from app.cli.watched_nodes import FIRST_LOOK_SECONDS, GONE_SECONDS, OBEY_SECONDS, Watch, await_first_looks, fault
from app.services.operations.drain import NodeProgress
from app.services.operations.nodes import NodeState

NAME = "worker-1:7"
WANTED = {NodeState.DRAINED, NodeState.DEAD}
AWAY = OperationalError("SELECT", {}, psycopg2.OperationalError("server closed the connection"))


class NoTableError(psycopg2.ProgrammingError):
    """The error of a statement that reads a table which is not there."""

    pgcode = "42P01"


BROKEN = ProgrammingError("SELECT", {}, NoTableError("no such table"))


def holding(held: int, state: NodeState = NodeState.DRAINING) -> NodeProgress:
    return NodeProgress(NAME, state, held)


@dataclass
class Course:
    """What is seen of one node, from which second on; time passes by waiting."""

    steps: Sequence[tuple[float, NodeProgress | Exception]]
    seconds: float = 3600
    passed: float = 0
    told: list[str] = field(default_factory=list)

    def look(self) -> list[NodeProgress]:
        shown = [what for since, what in self.steps if since <= self.passed][-1]
        if isinstance(shown, Exception):
            raise shown
        return [shown]

    def now(self) -> float:
        return self.passed

    def wait(self, seconds: float) -> None:
        self.passed += seconds

    def end(self) -> NodeProgress:
        [found] = Watch(self.look, WANTED, self.seconds, self.told.append, self.now, self.wait).end()
        return found


DRAINED = holding(0, NodeState.DRAINED)
DEAD = holding(0, NodeState.DEAD)


def test_a_database_that_restarts_is_waited_for() -> None:
    course = Course([(0, holding(2)), (5, AWAY), (65, DEAD), (70, holding(1)), (90, DRAINED)])
    assert course.end() == DRAINED
    assert course.passed == 90
    assert course.told == [
        f"{NAME} takes no more messages, and holds 2 messages",
        "the database does not answer: server closed the connection; waiting for it",
        "the database answers again",
        f"{NAME} takes no more messages, and holds 1 message",
        f"{NAME} is drained: nothing runs",
    ]


def test_a_node_that_connects_again_in_time_has_not_ended() -> None:
    course = Course([(0, holding(1)), (5, DEAD), (5 + GONE_SECONDS - 1, holding(1)), (30, DRAINED)])
    assert course.end() == DRAINED


def test_a_node_that_does_not_come_back_has_ended_with_what_it_held() -> None:
    course = Course([(0, holding(1)), (5, DEAD)])
    found = course.end()
    assert (found.held, course.passed) == (1, 5 + GONE_SECONDS)
    assert fault(found, WANTED) == f"{NAME} ended while it held 1 message: other nodes run it again"


def test_a_node_that_may_connect_again_is_not_called_ended_when_the_time_is_over() -> None:
    course = Course([(0, holding(0)), (5, DEAD)], seconds=10)
    assert course.end() == DEAD
    assert course.told == [f"{NAME} takes no more messages, and holds 0 messages"]


def test_the_time_of_a_restart_does_not_count_against_the_nodes() -> None:
    serving = holding(0, NodeState.SERVING)
    course = Course([(0, serving), (OBEY_SECONDS - 1, AWAY), (60, serving), (60 + OBEY_SECONDS - 1, DRAINED)])
    assert course.end() == DRAINED
    disobedient = Course([(0, serving)])
    assert fault(disobedient.end(), WANTED) == (
        f"{NAME} has not obeyed yet: its release does not know the command, or its event loop is busy, and then it"
        " obeys as soon as it can"
    )
    assert disobedient.passed == OBEY_SECONDS


def test_a_database_that_is_away_for_longer_than_the_timeout_ends_the_command() -> None:
    course = Course([(0, holding(1)), (5, AWAY)], seconds=20)
    with pytest.raises(OperationalError):
        course.end()
    assert course.passed == 20


def test_an_error_that_waiting_does_not_mend_ends_the_command_at_once() -> None:
    course = Course([(0, holding(1)), (5, BROKEN)])
    with pytest.raises(ProgrammingError):
        course.end()
    assert course.passed == 5


@dataclass
class Start:
    """A node that has looked at its queues after so many seconds; time passes by waiting."""

    seconds: float
    passed: float = 0

    def unknown(self) -> list[str]:
        return [NAME] if self.passed < self.seconds else []

    def now(self) -> float:
        return self.passed

    def wait(self, seconds: float) -> None:
        self.passed += seconds

    def ends_at(self) -> float:
        await_first_looks(self.unknown, self.now, self.wait)
        return self.passed


def test_a_node_that_has_just_started_is_waited_for() -> None:
    assert [Start(0).ends_at(), Start(2).ends_at()] == [0, 2]


def test_a_program_that_only_sends_is_not_waited_for_without_end() -> None:
    assert Start(3600).ends_at() == FIRST_LOOK_SECONDS
