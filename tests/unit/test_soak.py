"""What a soak calls flat, on made series and on real processes that leak."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from xml.etree import ElementTree as ET

import psutil
import pytest
from service_harness import leaking as leaks

from bench.soak.picture import draw
from bench.soak.processes import Sample, add
from bench.soak.trend import Bound, slope, trend
from bench.soak.verdict import MB, Look, failures, judge

#: Forty minutes, a sample each five seconds.
INSTANTS = [5.0 * n for n in range(480)]
TWO = Bound(units=2, share=0.02, least=1)


def looks(what: str, values: list[float], part: str = "it", alive: list[int] | None = None) -> list[Look]:
    return [
        Look(at, Sample({(what, part): int(value)}), 1000 if alive is None else alive[n])
        for n, (at, value) in enumerate(zip(INSTANTS, values, strict=False))
    ]


def grew(found: list[Look], table_of: dict[str, str] | None = None) -> list[tuple[str, str]]:
    return [(one.what, one.part) for one in failures(judge(found, table_of or {}))]


def test_the_slope_of_a_line_is_the_lines() -> None:
    assert slope([(at, 3 + at / 2) for at in INSTANTS]) == pytest.approx(0.5)


def test_single_samples_far_away_do_not_move_the_slope() -> None:
    dice = random.Random(1)
    series = [(at, 1e6 if dice.random() < 0.1 else 50.0) for at in INSTANTS]
    assert slope(series) == 0


def test_one_sample_and_samples_of_one_instant_have_no_slope() -> None:
    assert slope([(1.0, 5.0)]) == slope([(1.0, 5.0), (1.0, 9.0)]) == 0


def test_a_series_without_a_sample_is_refused() -> None:
    with pytest.raises(ValueError, match="without a sample"):
        trend([], TWO)


@pytest.mark.parametrize(("each", "is_flat"), [(1.9, True), (2.1, False), (-50, True)])
def test_growth_in_ten_minutes_is_held_against_the_bound(each: float, is_flat: bool) -> None:
    found = trend([(at, 40 + each * at / 600) for at in INSTANTS], TWO)
    assert (found.is_flat, found.each, found.limit) == (is_flat, pytest.approx(each), pytest.approx(2))


def test_of_a_large_series_a_share_is_allowed() -> None:
    assert trend([(at, 1000 + 19 * at / 600) for at in INSTANTS], TWO).is_flat
    assert not trend([(at, 1000 + 23 * at / 600) for at in INSTANTS], TWO).is_flat


def test_noise_of_less_than_the_least_is_no_growth_however_short_the_time() -> None:
    series = [(at / 100, 40 + at / 3000) for at in INSTANTS]
    found = trend(series, TWO)
    assert found.each > found.middle * TWO.share
    assert found.is_flat


def test_the_warm_up_is_not_judged_and_what_comes_after_it_is() -> None:
    warming = [min(at, 700.0) * MB / 10 for at in INSTANTS]
    assert grew(looks("memory", warming)) == []
    assert grew(looks("memory", warming[::-1])) == []
    assert grew(looks("memory", [at * MB / 100 for at in INSTANTS])) == [("memory", "it")]


def test_a_saw_is_flat_and_a_saw_that_climbs_is_not() -> None:
    dice = random.Random(2)
    saw = [90 * MB + (at % 300) * MB / 50 + dice.gauss(0, MB / 2) for at in INSTANTS]
    assert grew(looks("memory", saw)) == []
    climbing = [value + at * MB / 200 for value, at in zip(saw, INSTANTS, strict=True)]
    assert grew(looks("memory", climbing)) == [("memory", "it")]


def test_short_lived_processes_are_not_judged() -> None:
    assert judge(looks("memory", [at * MB for at in INSTANTS], "git and parsers"), {}) == []


def test_one_descriptor_in_five_minutes_is_a_leak() -> None:
    assert grew(looks("descriptors", [30 + at // 300 for at in INSTANTS])) == [("descriptors", "it")]
    dice = random.Random(3)
    assert grew(looks("descriptors", [30 + dice.randrange(8) for _ in INSTANTS])) == []


@pytest.mark.parametrize("what", ["rows", "table bytes"])
def test_a_table_may_grow_with_the_jobs_that_are_alive_and_no_faster(what: str) -> None:
    alive = [1000 + int(at) for at in INSTANTS]
    assert grew(looks(what, [900.0 * n for n in alive], alive=alive)) == []
    assert grew(looks(what, [900.0 * n for n in alive])) == [(what, "it")]
    faster = [900.0 * n * (1 + at / 2400) for n, at in zip(alive, INSTANTS, strict=True)]
    assert grew(looks(what, faster, alive=alive)) == [(what, "it")]


def test_a_table_that_is_not_pruned_is_found_when_it_was_empty_before() -> None:
    counted = looks("rows", [0.0] * 200 + [5.0 * n for n in range(280)])
    for look in counted:
        look.sample["rows", "another"] = 7
        if look.sample["rows", "it"] == 0:  # as a sum of counters leaves it out
            del look.sample["rows", "it"]
    assert grew(counted) == [("rows", "it")]


def test_what_is_kept_for_ever_grows_with_its_rows_and_its_bytes_no_faster() -> None:
    rows = [1000 + n for n in range(480)]
    found = looks("rows", [float(n) for n in rows], "usage_events")
    for look, count in zip(found, rows, strict=True):
        look.sample["index bytes", "usage_events_pkey"] = 200 * count
    assert grew(found, {"usage_events_pkey": "usage_events"}) == []
    for n, look in enumerate(found):
        look.sample["index bytes", "usage_events_pkey"] += 200 * n
    assert grew(found, {"usage_events_pkey": "usage_events"}) == [("index bytes", "usage_events_pkey, a row")]


@contextmanager
def leaking(what: str) -> Iterator[subprocess.Popen[str]]:
    argv = [sys.executable, leaks.__file__, what]
    helper = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield helper
    finally:
        helper.kill()
        helper.communicate()


def watched(helper: subprocess.Popen[str]) -> list[Look]:
    """A sample after each piece, as if ten seconds had passed."""
    found = []
    for n in range(45):
        print("go on", file=helper.stdin, flush=True)
        assert helper.stdout is not None
        assert helper.stdout.readline()
        sample = Sample()
        add(sample, psutil.Process(helper.pid), "helper")
        found.append(Look(10.0 * n, sample, 1))
    return found


@pytest.mark.parametrize("what", ["memory", "descriptors", "threads"])
def test_a_process_that_leaks_is_found(what: str) -> None:
    with leaking(what) as helper:
        assert (what, "helper") in grew(watched(helper))


def test_a_process_that_leaks_nothing_is_flat() -> None:
    with leaking("nothing") as helper:
        found = watched(helper)
    assert grew(found) == []
    assert {what for look in found for what, _ in look.sample} >= {"memory", "descriptors", "threads", "processes"}


def test_a_process_that_nobody_waited_for_is_a_zombie() -> None:
    helper = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, helper.pid, os.WEXITED | os.WNOWAIT)  # it stays one
    sample = Sample()
    add(sample, psutil.Process(helper.pid), "helper")
    helper.wait()
    assert sample == Sample({("zombies", "helper"): 1})


def test_a_picture_is_well_formed_and_has_a_line_for_each_series() -> None:
    picture = draw([("a < b", [(0.0, 1.0), (5.0, 2.0)], "2"), ("none", [(0.0, 0.0)], "0")], warm_until=2.0)
    lines = ET.fromstring(picture).findall("{http://www.w3.org/2000/svg}polyline")
    assert [line.get("points") for line in lines] == ["12.0,50.0 372.0,22.0", "396.0,78.0"]
