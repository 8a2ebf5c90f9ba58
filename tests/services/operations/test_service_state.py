"""The one word for the state of the service, and its causes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from app.domain.queues import ALL_QUEUES
from app.services.operations.nodes import Node
from app.services.operations.queues import Pause
from app.services.operations.service_state import service_state
from app.store.operations.queues import QueueState

AT = datetime(2026, 3, 1, tzinfo=UTC)


def queue(name: str, *, ready: int = 0, oldest: float = 0.0, paused: bool = False) -> QueueState:
    return QueueState(name, paused, ready, oldest, 0, 0, 0, 0, 0.0, 0, ())


def node(*queues: str, is_alive: bool = True, lent: Sequence[str] = ()) -> Node:
    return Node("host:7", is_alive, AT, AT if is_alive else None, queues, False, 3, lent, 0, ())


ALL_SERVED = (node(*ALL_QUEUES[:2]), node(*ALL_QUEUES[2:]))


def test_a_service_whose_queues_are_served_in_time_is_ok() -> None:
    state = service_state([queue(name, ready=3, oldest=60.0) for name in ALL_QUEUES], ALL_SERVED, [])
    assert (state.word, state.late, state.unserved, state.has_nodes) == ("OK", [], [], True)


@pytest.mark.parametrize(
    ("name", "oldest", "word"),
    [
        ("analysis_priority", 60.1, "Behind"),
        ("specview_default", 3600.0, "Behind"),
        ("specview_scheduled", 3600.0, "OK"),
        ("specview_scheduled", 3600.1, "Behind"),
    ],
)
def test_an_old_message_makes_it_behind_and_scheduled_work_may_wait_longer(name: str, oldest: float, word: str) -> None:
    state = service_state([queue(name, ready=1, oldest=oldest)], ALL_SERVED, [])
    assert (state.word, [late.queue for late in state.late]) == (word, [name] if word == "Behind" else [])


def test_a_queue_that_no_living_node_takes_makes_it_behind() -> None:
    gone = node("analysis_default", is_alive=False)
    state = service_state(
        [queue("analysis_default"), queue("analysis_priority")], [gone, node("analysis_priority")], []
    )
    assert (state.word, state.unserved, state.has_nodes) == ("Behind", ["analysis_default"], True)
    assert not service_state([queue("analysis_default")], [gone], []).has_nodes


def test_of_a_paused_queue_nothing_is_expected() -> None:
    pause = Pause("analysis_default", AT, "ann@example.org", "the disk is full")
    paused = queue("analysis_default", ready=9, oldest=9_000.0, paused=True)
    state = service_state([paused], [], [pause])
    assert (state.word, state.paused, state.late, state.unserved) == ("Paused", [pause], [], [])
    late = queue("analysis_priority", ready=1, oldest=61.0)
    assert service_state([paused, late], ALL_SERVED, [pause]).word == "Behind"


def test_a_queue_that_only_idle_workers_of_another_serve_is_served_and_named() -> None:
    rows, lender = [queue(name) for name in ALL_QUEUES], node(*ALL_QUEUES, lent=("analysis_default",))
    state = service_state(rows, [lender], [])
    assert (state.word, state.unserved, state.only_lent) == ("OK", [], ["analysis_default"])
    gone = node("analysis_default", is_alive=False)
    assert service_state(rows, [lender, gone], []).only_lent == ["analysis_default"]
    assert service_state(rows, [lender, node("analysis_default")], []).only_lent == []
