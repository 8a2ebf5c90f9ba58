"""When a node reads a queue from the beginning again: seldom where that takes long because of what is dead there."""

import pytest
from celery_durable import queue_position
from celery_durable.queue_position import QueuePosition


@pytest.mark.parametrize(
    ("usual", "whole", "pause"),
    [
        pytest.param(0.002, 0.003, 0.1, id="nothing is dead"),
        pytest.param(0.002, 0.05, 4.8, id="behind dead entries"),
        pytest.param(0.05, 0.052, 1.04, id="a server that is far away"),
        pytest.param(0.002, 0.2, 10.0, id="a slow claim"),
        pytest.param(None, 0.05, 1.0, id="no other claim is known"),
    ],
)
def test_the_next_whole_look_comes_the_later_the_longer_the_last_one_took(
    monkeypatch: pytest.MonkeyPatch, usual: float | None, whole: float, pause: float
) -> None:
    position, clock = QueuePosition(), 100.0
    monkeypatch.setattr(queue_position, "monotonic", lambda: clock)
    for begin, seconds in (*[(7, usual)] * 20, (0, whole)):
        if seconds is not None:
            began, clock = clock, clock + seconds
            position.read(begin, [8], 1, began)
    assert position.budget.due_at - clock == pytest.approx(pause)
