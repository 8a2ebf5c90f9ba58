"""What programs are answered, byte for byte but for ids, instants and measured numbers: answers.txt holds it.

A change of an answer that is meant is a change of that file: `ANSWERS=write pytest tests/web/test_answer_bytes.py`.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from service_harness.application import Web, commit_of
from sqlalchemy import text

from app.domain import waiting
from app.domain.plans import Tier
from app.domain.queues import Service
from app.store.jobs import heartbeats

KEPT = Path(__file__).parent / "answers.txt"

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")
#: In words: an instant of the next attempt or of a new period, the secrets of tokens and links, e-mail addresses, hashes of requests.
OTHERS = re.compile(
    r"\d{4}-\d\d-\d\d \d\d:\d\d UTC|\d\d:\d\d:\d\d UTC|f[ls]_[\w-]{4,}|\b[0-9a-f]{12}@example\.org|\"request_id\": ?\"[0-9a-f]{32}\"|id: \d+-[0-9a-f]{8}"
)
MEASURED = re.compile(
    r"(\"(?:\w*seconds|guess|eta_\w+|index|id|cursor|next|wait_\w+|own_limit|others|no_worker|paused)\": ?)"
    r"-?\d+(?:\.\d+)?(?:e-?\d+)?"
)


def plain(body: str) -> str:
    """Without what differs from run to run: each id by its number, of instants how they end."""
    seen: dict[str, str] = {}
    body = UUID.sub(lambda found: seen.setdefault(found[0], f"<id {len(seen) + 1}>"), body)
    body = INSTANT.sub(lambda found: f"<instant{found[2]}>", body)
    body = OTHERS.sub("<other>", body)
    return MEASURED.sub(r"\1<number>", body)


@dataclass
class Story:
    """Requests of one person, told as what was asked and the answer's status and body."""

    web: Web
    headers: dict[str, str]

    def ask(self, method: str, path: str, key: str | None = None, **sent: Any) -> str:
        headers = self.headers | ({"Idempotency-Key": key} if key else {})
        answer = self.web.client.open(f"/api/v1{path}", method=method, headers=headers, **sent)
        told = f"## {method} {plain(path)}\n{answer.status_code} {plain(answer.text.strip())}\n\n"
        answer.close()
        return told

    def submit(self, name: str, key: str | None = None, **members: str) -> str:
        return self.ask("POST", "/analyses", key, json={"repository": f"acme/{name}", **members})

    def newest(self, service: str = "analysis") -> str:
        """The id of the job that was accepted last."""
        query = """SELECT job_id::text FROM analysis_requests
                    WHERE role = 'payer' AND service = :service ORDER BY id DESC LIMIT 1"""
        with self.web.uow.begin() as tx:
            found: str = tx.run(text(query), service=service).scalar_one()
        return found


def submissions(story: Story) -> Iterator[str]:
    yield story.submit("shop", "k1")
    yield story.submit("shop", "k1")
    yield story.submit("other", "k1")
    yield Story(story.web, story.web.token()).submit("shop")
    job_id = story.newest()
    yield story.ask("GET", f"/analyses/{job_id}")
    yield story.ask("GET", f"/analyses/{job_id}/tests")
    delivery = story.web.started(job_id)
    with story.web.uow.begin() as tx:
        heartbeats.beat(tx, Service.ANALYSIS, delivery, ("parsing", 2, 3), lease_seconds=15)
    yield story.ask("GET", f"/analyses/{job_id}")
    with story.web.uow.begin() as tx:
        tx.run(text("UPDATE kombu_message SET visible = true, lease_token = NULL, started_at = NULL"))
    story.web.completed(job_id)
    yield story.submit("shop")


def results(story: Story, job_id: str) -> Iterator[str]:
    for rest in ("", "/tests?limit=2", "/files", "/timeline", "/events"):
        yield story.ask("GET", f"/analyses/{job_id}{rest}")
    yield story.ask("GET", "/repositories/github.com/acme/shop")
    yield story.ask("GET", "/repositories/github.com/acme/shop/history")
    story.submit("shop", ref="next")
    other = story.newest()
    story.web.completed(other, [])
    yield story.ask("GET", f"/analyses/{job_id}/compare/{other}")


def ends(story: Story) -> Iterator[str]:
    story.submit("failed")
    story.web.failed(story.newest())
    yield story.ask("GET", f"/analyses/{story.newest()}")
    yield story.submit("failed")
    story.submit("gone", commit=commit_of("gone"))
    yield story.ask("DELETE", f"/analyses/{story.newest()}")
    yield story.ask("GET", f"/analyses/{story.newest()}")


def batches(story: Story) -> Iterator[str]:
    items = [{"repository": f"acme/{name}"} for name in ("shop", "new", "missing")]
    yield story.ask("POST", "/analyses/batch", "k2", json={"items": items})
    yield story.ask("POST", "/analyses/batch", "k2", json={"items": items})
    yield story.ask("POST", "/analyses/batch", json={"items": items, "atomic": True})


def specifications(story: Story, analysis: str) -> Iterator[str]:
    wanted = {"analysis_id": analysis, "language": "en"}
    yield story.ask("POST", "/specs", json={**wanted, "dry_run": True})
    yield story.ask("POST", "/specs", "k3", json=wanted)
    yield story.ask("POST", "/specs", "k3", json=wanted)
    job_id = story.newest("specview")
    yield story.ask("GET", f"/specs/{job_id}")
    yield story.ask("POST", "/specs", json=wanted)
    story.web.written(job_id)
    for rest in ("", "/timeline", ".json"):
        yield story.ask("GET", f"/specs/{job_id}{rest}")
    yield story.ask("POST", "/specs", json=wanted)
    yield story.ask("GET", f"/specs?analysis_id={analysis}")
    yield story.ask("POST", f"/specs/{job_id}/share")
    yield story.ask("POST", "/specs", json={**wanted, "language": "tlh"})


def account(story: Story) -> Iterator[str]:
    yield story.ask("GET", "/usage")
    yield story.ask("GET", "/usage/reservations")
    yield story.ask("POST", "/quota/check", json={"event_type": "analysis", "amount": 3})
    yield story.ask("GET", "/me/history?limit=3")
    token = {"name": "ci", "scopes": ["read"], "expires_at": "2999-01-01T00:00:00Z"}
    yield story.ask("POST", "/me/tokens", json=token)
    yield story.ask("GET", "/me/tokens")


def operator(story: Story, user_id: str) -> Iterator[str]:
    for path in ("queues", "tenants", "tiers", "fairness?by=user", "fairness?by=tier", "audit"):
        yield story.ask("GET", f"/operator/{path}")
    yield story.ask("PUT", "/operator/queues/analysis_default/pause", json={"paused": True})
    yield story.ask("PUT", f"/operator/users/{user_id}/tier", json={"tier": "free"})
    yield story.ask("PUT", "/operator/tiers/free/limit", json={"limit": 2})
    yield story.ask("PUT", f"/operator/users/{user_id}/limit", json={"limit": 0})


def refusals(story: Story) -> Iterator[str]:
    with story.web.uow.begin() as tx:
        tx.run(text("UPDATE subscription_plans SET analyses_per_period = 1"))
    yield story.submit("late")
    token = story.web.client.post(
        "/api/v1/me/tokens", json={"name": "x", "expires_at": "2999-01-01T00:00:00Z"}, headers=story.headers
    )
    weak = Story(story.web, {"Authorization": f"Bearer {token.json['token']}"})
    yield weak.ask("POST", "/me/tokens", json={"name": "y", "expires_at": "2999-01-02T00:00:00Z"})


def test_programs_are_answered_as_before(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "NO_WORKER_AFTER_SECONDS", 600)  # no worker is here, and the machine may be slow
    user = web.user(Tier.PRO)
    root = web.token(web.user(is_operator=True).user_id, "read", "write", "operator")
    story = Story(web, web.token(user.user_id))
    told = [*submissions(story)]
    analysis = story.newest()
    told += [*results(story, analysis), *ends(story), *batches(story), *specifications(story, analysis)]
    told += [*account(story), *operator(Story(web, root), str(user.user_id)), *refusals(story)]
    if os.environ.get("ANSWERS") == "write":
        KEPT.write_text("".join(told), encoding="utf-8")
    assert "".join(told) == KEPT.read_text(encoding="utf-8")
