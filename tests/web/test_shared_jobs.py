"""Two users asked for one commit: each is told of their own line, tier and queue, and of nobody else's."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from service_harness.application import POLICY, Web
from sqlalchemy import text

from app.domain.plans import Tier
from app.services.accounts import tiers
from app.services.accounts.accounts import Account
from app.web.jobs.api import LIVE

COMMIT = "c" * 40
ELSEWHERE = "waits in the line of another user"


@dataclass
class Asker:
    """A user with a token."""

    web: Web
    account: Account
    scopes: tuple[str, ...] = ("read", "write")

    def __post_init__(self) -> None:
        self.headers = self.web.token(self.account.user_id, *self.scopes)

    def ask(self, name: str, **members: str) -> str:
        job_id: str = self.web.submit(name, self.headers, **members).json["id"]
        return job_id

    def busy(self, name: str, *, running: int, waiting: int = 0) -> None:
        jobs = [self.ask(f"{name}{n}") for n in range(running + waiting)]
        for job_id in jobs[:running]:
            self.web.started(job_id)

    def job(self, job_id: str) -> Any:
        return self.web.app.test_client().get(f"/api/v1/analyses/{job_id}", headers=self.headers).json

    def timeline(self, job_id: str) -> str:
        return json.dumps(
            self.web.app.test_client().get(f"/api/v1/analyses/{job_id}/timeline", headers=self.headers).json
        )

    def page(self, job_id: str) -> str:
        other = Web(self.web.app, self.web.uow)
        other.sign_in(self.account)
        return other.client.get(f"/analyses/{job_id}").text

    def streamed(self, job_id: str) -> Any:
        self.web.app.extensions[LIVE].stream_seconds = 0.0
        answer = self.web.app.test_client().get(f"/api/v1/analyses/{job_id}/events", headers=self.headers)
        told = json.loads(answer.text.split("data: ")[1].split("\n")[0])
        answer.close()
        return told

    def all(self, job_id: str) -> str:
        """All that this user is told."""
        told = (self.job(job_id), self.streamed(job_id))
        return json.dumps(told) + self.timeline(job_id) + self.page(job_id)


@pytest.fixture
def ann(web: Web) -> Asker:
    return Asker(web, web.user(Tier.ENTERPRISE))


@pytest.fixture
def fay(web: Web) -> Asker:
    return Asker(web, web.user(Tier.FREE))


def in_the_line_of_fay(ann: Asker, fay: Asker) -> str:
    """ann asked first and has many jobs before it; fay has only one, and carries it."""
    ann.busy("ann", running=5, waiting=10)
    job_id = ann.ask("shared", commit=COMMIT)
    fay.busy("fay", running=1)
    assert fay.ask("shared", commit=COMMIT) == job_id
    fay.web.started(job_id)  # and put back
    return job_id


def in_the_line_of_ann(ann: Asker, fay: Asker) -> str:
    fay.busy("fay", running=1, waiting=3)
    job_id = fay.ask("shared", commit=COMMIT)
    ann.busy("ann", running=5)
    assert ann.ask("shared", commit=COMMIT) == job_id
    ann.web.started(job_id)  # and put back
    return job_id


def line(told: Any) -> tuple[Any, ...]:
    wait = told["wait"]
    return told["tier"], told["queue"], wait["reason"], wait["running"], wait["limit"], wait["position"]


def test_the_payer_is_not_told_of_the_line_of_a_free_user(ann: Asker, fay: Asker) -> None:
    job_id = in_the_line_of_fay(ann, fay)
    for told in (ann.job(job_id), ann.streamed(job_id)):
        assert line(told) == ("enterprise", "analysis_priority", "user_at_limit", None, None, None)
        assert told["wait"]["ahead_of_you"] is told["wait"]["yours_ahead"] is None
        assert ELSEWHERE in told["wait"]["text"]
    assert ELSEWHERE in ann.page(job_id)
    everything = ann.all(job_id)
    assert "tier free" not in everything
    assert "analysis_default" not in everything


def test_who_carries_it_is_told_of_their_own_line(ann: Asker, fay: Asker) -> None:
    job_id = in_the_line_of_fay(ann, fay)
    for told in (fay.job(job_id), fay.streamed(job_id)):
        assert line(told) == ("free", "analysis_default", "user_at_limit", 1, 1, 1)
        assert told["wait"]["text"].startswith("Your jobs use 1 of 1 slot of tier free, and 0 of your jobs are ahead")
    assert "Your jobs use 1 of 1 slots of tier free." in fay.page(job_id)
    everything = fay.all(job_id)
    assert "enterprise" not in everything
    assert "analysis_priority" not in everything


def test_a_free_user_is_not_told_that_an_enterprise_carries_the_job(ann: Asker, fay: Asker) -> None:
    job_id = in_the_line_of_ann(ann, fay)
    assert line(fay.job(job_id)) == ("free", "analysis_default", "user_at_limit", None, None, None)
    everything = fay.all(job_id)
    assert ELSEWHERE in everything
    assert "enterprise" not in everything
    assert "analysis_priority" not in everything
    assert line(ann.job(job_id)) == ("enterprise", "analysis_priority", "user_at_limit", 5, 5, 1)
    assert "Your jobs use 5 of 5 slots of tier enterprise." in ann.page(job_id)
    assert "analysis_default" not in ann.all(job_id)


def test_a_ready_job_in_the_queue_of_a_better_tier_does_not_name_it(web: Web, ann: Asker, fay: Asker) -> None:
    job_id = fay.ask("shared", commit=COMMIT)
    with web.uow.begin() as tx:
        tx.run(text("UPDATE kombu_queue SET paused_at = now() WHERE name = 'analysis_default'"))
    ann.ask("shared", commit=COMMIT)
    told = fay.job(job_id)
    assert (told["tier"], told["queue"], told["wait"]["yours_ahead"]) == ("free", "analysis_default", None)
    assert ann.job(job_id)["queue"] == "analysis_priority"
    assert "analysis_priority" not in fay.all(job_id)
    web.started(job_id)
    assert fay.job(job_id)["queue"] == "analysis_default"


@pytest.mark.parametrize("make", [in_the_line_of_fay, in_the_line_of_ann])
def test_a_stranger_is_told_of_no_tier_queue_or_limit(web: Web, ann: Asker, fay: Asker, make: Any) -> None:
    job_id = make(ann, fay)
    eve = Asker(web, web.user(Tier.PRO))
    assert line(eve.job(job_id)) == (None, None, "user_at_limit", None, None, None)
    everything = eve.all(job_id)
    for word in ("tier free", "enterprise", "analysis_default", "analysis_priority"):
        assert word not in everything.replace("/plans", "")


def test_an_operator_is_told_everything(web: Web, ann: Asker, fay: Asker) -> None:
    job_id = in_the_line_of_fay(ann, fay)
    operator = Asker(web, web.user(is_operator=True), ("read", "operator"))
    for told in (operator.job(job_id), operator.streamed(job_id)):
        assert line(told) == ("enterprise", "analysis_default", "user_at_limit", 1, 1, 1)
    assert "analysis_default" in operator.timeline(job_id)


def test_after_a_change_of_tier_the_new_one_is_told_with_its_limit(web: Web) -> None:
    user = Asker(web, web.user(Tier.PRO))
    user.busy("job", running=3)
    job_id = user.ask("shared", commit=COMMIT)
    web.started(job_id)
    assert line(user.job(job_id))[:5] == ("pro", "analysis_priority", "user_at_limit", 3, 3)
    tiers.change_tier(web.uow, user.account.user_id, Tier.FREE, POLICY, actor="test", now=datetime.now(UTC))
    web.started(job_id)
    told = user.job(job_id)
    assert (told["tier"], told["wait"]["limit"]) == ("free", 1)
    assert "3 of 1 slot of tier free" in told["wait"]["text"]
    assert "Your jobs use 3 of 1 slots of tier free." in user.page(job_id)
