"""Exchanges with the table: a few at once, and no more than so many a second."""

import pytest
from celery_durable.commit_pacing import BURST, SECONDS, CommitPacing


def test_after_a_quiet_time_some_exchanges_need_no_pause() -> None:
    pacing = CommitPacing()
    for _ in range(BURST):
        assert pacing.wait(100.0) == 0
        pacing.spend(100.0)
    assert pacing.wait(100.0) == pytest.approx(SECONDS)


def test_in_the_long_run_there_is_a_pause_between_two() -> None:
    pacing, now, done = CommitPacing(), 100.0, 0
    while now < 101.0:
        now += pacing.wait(now)
        pacing.spend(now)
        done += 1
    assert done == pytest.approx(1 / SECONDS + BURST, abs=2)
