"""Look-ups at Git hosts: charged for each, after the quota, few at once, and within a deadline."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from service_harness.application import POLICY, SETTINGS, Web, commit_of
from sqlalchemy import text
from werkzeug.test import TestResponse

from app.domain.plans import Tier
from app.domain.repositories import Repository
from app.store.core.unit_of_work import UnitOfWork
from app.web import create_app
from app.web.analyses.commit_lookups import OF_CLIENT, OF_HOST
from app.web.core.wiring import WebWiring

FOR_EVER = SETTINGS.lookup_timeout * 100


@dataclass
class Host:
    """A Git host that keeps whoever asks it until it is told to answer."""

    is_slow: bool = True
    asked: list[str] = field(default_factory=list)
    most: int = 0
    _now: int = 0
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def resolve(self, repository: Repository, ref: str | None, commit: str | None) -> tuple[str, str | None]:
        if commit:
            return commit, ref
        with self._changed:
            self.asked.append(repository.name)
            self._now += 1
            self.most = max(self.most, self._now)
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self.is_slow)
            self._now -= 1
        return commit_of(repository.name), "main"

    def answer(self) -> None:
        with self._changed:
            self.is_slow = False
            self._changed.notify_all()

    def wait_until_asked(self, times: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.asked) >= times, 60), self.asked


@pytest.fixture
def host() -> Iterator[Host]:
    host = Host()
    yield host
    host.answer()
    for thread in threading.enumerate():
        if thread.name == "lookup":
            thread.join(60)


@pytest.fixture
def make(uow: UnitOfWork, host: Host) -> Callable[..., Web]:
    """make(lookup_timeout=…) -> the application before that host."""

    def made(**settings: Any) -> Web:
        wired = WebWiring(SETTINGS.model_copy(update=settings), uow, POLICY, host.resolve, "a secret of this test")
        return Web(create_app(wired), uow)

    return made


def batch(web: Web, names: list[str], headers: dict[str, str] | None = None, **members: Any) -> TestResponse:
    items = [{"repository": f"acme/{name}"} for name in names]
    return web.app.test_client().post("/api/v1/analyses/batch", json={"items": items, **members}, headers=headers)


def post(web: Web, name: str, headers: dict[str, str] | None = None) -> TestResponse:
    return web.app.test_client().post("/api/v1/analyses", json={"repository": f"acme/{name}"}, headers=headers)


def spend_quota(uow: UnitOfWork) -> None:
    with uow.begin() as tx:
        tx.run(text("UPDATE subscription_plans SET analyses_per_period = 0 WHERE tier = 'free'"))


@pytest.mark.parametrize("signed_in", [True, False])
def test_a_batch_counts_for_each_of_its_items(make: Callable[..., Web], host: Host, signed_in: bool) -> None:
    host.answer()
    web = make(rate_limit_per_minute=10)
    headers = web.token() if signed_in else None
    assert batch(web, [f"a{i}" for i in range(10)], headers).status_code == 202
    refused = batch(web, [f"b{i}" for i in range(10)], headers)
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) > 0
    assert len(host.asked) == 10


def test_a_batch_larger_than_the_limit_is_let_in_once_and_paid_off(make: Callable[..., Web], host: Host) -> None:
    host.answer()
    web = make(rate_limit_per_minute=3)
    headers = web.token()
    assert batch(web, [str(i) for i in range(12)], headers).status_code == 202
    refused = post(web, "more", headers)
    assert (refused.status_code, int(refused.headers["Retry-After"]) > 60) == (429, True)


def test_who_has_spent_the_quota_is_refused_what_nobody_has_analysed(make: Callable[..., Web], host: Host) -> None:
    host.answer()
    web = make()
    headers = web.token()
    spend_quota(web.uow)
    assert post(web, "shop", headers).status_code == 402
    rows = batch(web, ["a", "b"], headers).json["items"]
    assert [row["status"] for row in rows] == [402, 402]
    assert batch(web, ["a", "b"], headers, atomic=True).status_code == 402
    page = web.post("/analyses", repository="acme/shop")
    assert page.status_code == 402
    assert "press Check" not in page.text


def test_who_has_spent_the_quota_gets_the_result_of_the_branch_in_each_way_to_submit(
    make: Callable[..., Web], host: Host
) -> None:
    host.answer()
    web = make()
    known = post(web, "shop", web.token()).json["id"]
    web.completed(known)
    headers = web.token()
    spend_quota(web.uow)
    answer = post(web, "shop", headers)
    assert (answer.status_code, answer.json["id"], answer.json["billed"]) == (200, known, False)
    rows = batch(web, ["shop", "other"], headers).json["items"]
    assert [row["status"] for row in rows] == [200, 402]
    page = web.post("/analyses", repository="acme/shop")
    assert (page.status_code, page.headers["Location"]) == (303, f"/analyses/{known}")


def test_who_has_spent_the_quota_joins_the_job_under_way(make: Callable[..., Web], host: Host) -> None:
    host.answer()
    web = make()
    running = post(web, "shop", web.token()).json["id"]
    headers = web.token()
    spend_quota(web.uow)
    answer = post(web, "shop", headers)
    assert (answer.status_code, answer.json["id"]) == (202, running)
    [row] = batch(web, ["shop"], headers).json["items"]
    assert (row["status"], row["job"]["id"]) == (202, running)


def test_a_commit_that_is_known_is_shown_to_who_has_spent_the_quota(make: Callable[..., Web], host: Host) -> None:
    host.answer()
    web = make()
    known = post(web, "shop", web.token()).json
    web.completed(known["id"])
    headers = web.token()
    spend_quota(web.uow)
    found = web.submit("shop", headers, commit=known["commit"])
    assert (found.status_code, found.json["id"]) == (200, known["id"])


@contextmanager
def flood(web: Web, host: Host, senders: list[dict[str, str]], held: int) -> Iterator[list[Future[TestResponse]]]:
    """One post of each sender at the same time; inside, all but `held` of them are answered and the host is silent."""
    ended = threading.Semaphore(0)
    with ThreadPoolExecutor(len(senders)) as threads:
        try:
            answers = [threads.submit(post, web, str(n), headers) for n, headers in enumerate(senders)]
            for answer in answers:
                answer.add_done_callback(lambda _: ended.release())
            host.wait_until_asked(held)
            for _ in range(len(senders) - held):
                assert ended.acquire(timeout=60)
            yield answers
        finally:
            host.answer()


@pytest.mark.proof
def test_one_client_has_few_look_ups_at_once(make: Callable[..., Web], host: Host) -> None:
    web = make(lookup_timeout=FOR_EVER)
    headers = web.token(web.user(Tier.ENTERPRISE).user_id)
    with flood(web, host, [headers] * 4 * OF_CLIENT, OF_CLIENT) as answers:
        refused = [answer.result() for answer in answers if answer.done()]
        assert {answer.status_code for answer in refused} == {429}
        assert all(int(answer.headers["Retry-After"]) > 0 for answer in refused)
    assert sum(answer.result().status_code == 202 for answer in answers) == OF_CLIENT == host.most


@pytest.mark.proof
def test_a_slow_host_is_asked_a_few_times_at_once_and_holds_few_threads(make: Callable[..., Web], host: Host) -> None:
    web = make(lookup_timeout=FOR_EVER)
    with flood(web, host, [web.token() for _ in range(40)], OF_HOST) as answers:
        refused = [answer.result() for answer in answers if answer.done()]
        assert {(answer.status_code, answer.json["type"]) for answer in refused} == {(503, "/problems/busy")}
        assert all(int(answer.headers["Retry-After"]) > 0 for answer in refused)
    assert sum(answer.result().status_code == 202 for answer in answers) == OF_HOST == host.most


def test_a_host_that_never_answers_costs_no_more_than_the_deadline(make: Callable[..., Web], host: Host) -> None:
    web = make(lookup_timeout=SETTINGS.lookup_timeout / 100)
    answer = post(web, "shop")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "30")
    assert "github.com did not say within 0.15 s" in answer.json["detail"]
    # what is still being asked holds its place: it is still a look-up
    rows = batch(web, [str(n) for n in range(10)], web.token()).json["items"]
    assert [row["status"] for row in rows] == [503] * 10
    assert len(host.asked) <= 1 + OF_CLIENT


def test_two_batches_of_one_client_are_not_looked_up_at_once(make: Callable[..., Web], host: Host) -> None:
    web = make(lookup_timeout=FOR_EVER)
    headers = web.token(web.user(Tier.ENTERPRISE).user_id)
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(batch, web, ["a", "b", "c", "d", "e", "f"], headers)
        host.wait_until_asked(OF_CLIENT)
        second = batch(web, ["g"], headers)
        host.answer()
        assert (second.status_code, second.json["type"]) == (429, "/problems/too-many-requests")
        assert [row["status"] for row in first.result().json["items"]] == [202] * 6
    assert host.most <= OF_CLIENT
    assert batch(web, ["g"], headers).status_code == 202


def test_twins_of_a_slow_look_up_are_told_so_and_cost_no_look_up(make: Callable[..., Web], host: Host) -> None:
    web = make(lookup_timeout=FOR_EVER)
    headers = web.token() | {"Idempotency-Key": "one"}

    def post(_: int) -> TestResponse:
        return web.app.test_client().post("/api/v1/analyses", json={"repository": "acme/shop"}, headers=headers)

    with ThreadPoolExecutor(20) as threads:
        first = threads.submit(post, 0)
        host.wait_until_asked(1)
        twins = list(threads.map(post, range(19)))
        host.answer()
    assert {(twin.status_code, twin.json["type"]) for twin in twins} == {(409, "/problems/idempotency-in-flight")}
    assert (first.result().status_code, len(host.asked)) == (202, 1)


@pytest.mark.proof
def test_one_client_may_ask_for_many_local_repositories_at_once(make: Callable[..., Web], tmp_path: Path) -> None:
    web = make(local_repos_root=tmp_path)
    headers = web.token(web.user(Tier.PRO).user_id)

    def post(number: int) -> int:
        address = {"repository": f"local:shop{number}", "commit": f"{number:040x}"}
        return web.app.test_client().post("/api/v1/analyses", json=address, headers=headers).status_code

    with ThreadPoolExecutor(30) as threads:
        assert set(threads.map(post, range(30))) == {202}
