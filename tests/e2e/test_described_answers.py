"""The served API against its own document, while real workers do what is asked."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
import schemathesis
from durable_harness.waiting import wait_for
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode

from app.domain.queues import ALL_QUEUES
from app.services.accounts import tokens
from app.services.operations import queues
from app.services.operations.audit import HOLDS, audit
from tests.e2e.conftest import System
from tests.e2e.visitors import new_operator
from tests.e2e.webs import Web
from tests.race.invariants import broken
from tests.web.test_schema import CHECKS

pytestmark = pytest.mark.proof

SCOPES = ("read", "write", "operator")
#: Of each operation in each mode; a failing example is not made smaller, as the service remembers what it was asked.
SETTINGS = settings(
    max_examples=6,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
UNFINISHED = "SELECT count(*) FROM kombu_message"
OPEN = {"RATE_LIMIT_PER_MINUTE": "100000", "READ_LIMIT_PER_MINUTE": "100000"}


#: Where a generated request is as good with a name that exists.
PLACE = {"host": "local", "owner": "-", "name": "shop", "repository": "local:shop", "ref": "main"}


def token_of(system: System, user_id: UUID) -> str:
    return tokens.add_token(system.world.uow, user_id, scopes=SCOPES, now=datetime.now(UTC)).secret


def test_every_answer_of_the_served_api_is_described_and_no_job_is_lost(system: System) -> None:
    system.make_repository("shop")
    system.nodes.worker(*ALL_QUEUES, processes=2)
    web = Web(system.nodes, system.nodes.folder, token_of(system, new_operator(system)), **OPEN)
    first = web.ask("/api/v1/analyses", {"repository": "local:shop"})
    system.wait(UUID(first["id"]), "completed")
    system.make_repository("shop", {"test_more.py": "def test_sells() -> None: pass"})
    known = dict(PLACE, job_id=first["id"], other_id=first["id"], analysis_id=first["id"])
    statuses: Counter[int] = Counter()
    document = schemathesis.openapi.from_url(f"{web.url}/api/v1/openapi.json").exclude(path_regex="events")
    for found in document.get_all_operations():
        operation = found.ok()
        for mode in GenerationMode.POSITIVE, GenerationMode.NEGATIVE:
            if mode is GenerationMode.POSITIVE or operation.body or operation.query:
                statuses += ask(operation, mode, web.token, known if mode is GenerationMode.POSITIVE else {})
    assert min(statuses[status] for status in (200, 202, 404, 422)) > 0, statuses
    for queue in ALL_QUEUES:  # some call has paused one
        queues.resume(system.world.uow, queue, actor="test")
    wait_for(lambda: system.world.value(UNFINISHED) == 0, "all accepted jobs to end")
    assert [finding for finding in audit(system.world.uow) if finding.status != HOLDS] == []
    assert broken(system.world) == []
    assert "Traceback" not in web.process.logs()


def ask(operation: Any, mode: GenerationMode, token: str, known: dict[str, str]) -> Counter[int]:
    """Generated requests to one operation; how often each status came back.  known: what its path and body name."""
    seen: Counter[int] = Counter()

    @SETTINGS
    @given(case=operation.as_strategy(generation_mode=mode))
    def answers_as_described(case: Any) -> None:
        for members in case.path_parameters, case.body:
            if known and isinstance(members, dict):
                members |= {name: value for name, value in known.items() if name in members}
                members.pop("commit", None)
        answer = case.call_and_validate(headers={"Authorization": f"Bearer {token}"}, checks=CHECKS)
        seen[answer.status_code] += 1

    answers_as_described()
    return seen
