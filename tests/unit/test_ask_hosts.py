"""Several hosts are asked at once, each a few questions at a time, and a slow one delays no other."""

from collections import Counter
from collections.abc import Iterator
from threading import Event, Lock

import pytest

from app.services.analyses.ask_hosts import MOST, PER_HOST, ask_hosts

HOSTS = [f"host{number}" for number in range(8)]


def items(host: str, number: int = 20) -> Iterator[tuple[str, int]]:
    return ((host, one) for one in range(number))


def never() -> bool:
    return False


def test_every_item_is_answered_once() -> None:
    answers = list(ask_hosts({host: items(host) for host in HOSTS}, lambda item: item[1] * 2, never))
    assert sorted(answers) == sorted(((host, one), one * 2) for host in HOSTS for one in range(20))
    assert list(ask_hosts({}, str, never)) == []


@pytest.mark.parametrize(("hosts", "bound"), [(HOSTS, MOST), (HOSTS[:1], PER_HOST)])
def test_a_host_has_few_questions_at_a_time_and_all_together_have_a_bound(hosts: list[str], bound: int) -> None:
    lock, busy, most = Lock(), Counter[str](), Counter[str]()
    full = Event()

    def ask(item: tuple[str, int]) -> None:
        with lock:
            busy.update((item[0], "all"))
            for key in (item[0], "all"):
                most[key] = max(most[key], busy[key])
            if busy["all"] == bound:
                full.set()
        assert full.wait(30)  # until as many are asked as may be
        with lock:
            busy.subtract((item[0], "all"))

    assert len(list(ask_hosts({host: items(host) for host in hosts}, ask, never))) == 20 * len(hosts)
    assert most["all"] == bound
    assert max(most[host] for host in hosts) <= PER_HOST


def test_a_host_that_hangs_delays_only_its_own_items() -> None:
    others_are_done = Event()

    def ask(item: tuple[str, int]) -> bool:
        return item[0] != "slow" or others_are_done.wait(30)

    answered: list[str] = []
    for (host, _), in_time in ask_hosts({"slow": items("slow"), "quick": items("quick")}, ask, never):
        assert in_time
        answered.append(host)
        if answered.count("quick") == 20:
            others_are_done.set()
    assert answered == ["quick"] * 20 + ["slow"] * 20


def test_after_the_time_limit_nothing_is_asked_and_what_was_asked_is_answered() -> None:
    answers: list[object] = []
    for answer in ask_hosts({host: items(host) for host in HOSTS}, str, lambda: bool(answers)):
        answers.append(answer)  # noqa: PERF402 - the time is over with the first
    assert len(answers) == MOST


def test_an_error_of_a_question_reaches_the_caller() -> None:
    def ask(item: tuple[str, int]) -> None:
        raise ZeroDivisionError(item)

    with pytest.raises(ZeroDivisionError):
        list(ask_hosts({"host": items("host")}, ask, never))
