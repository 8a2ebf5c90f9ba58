"""The machine of the job's life over the real services and tables, and mistakes in them that it finds (docs/adr/0023)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from sqlalchemy import text

from app.domain import carriers
from app.domain.quota import Usage
from app.services.fairness import choose_carrier
from app.services.jobs import end_job, start
from app.store.core.batch import Batch
from app.store.jobs import idempotency, messages, quota, requests
from tests.conftest import World
from tests.model.life import Life
from tests.tiers import proofs

pytestmark = pytest.mark.proof

EXAMPLES, STEPS = int(os.environ.get("LIFECYCLE_EXAMPLES", "12")), int(os.environ.get("LIFECYCLE_STEPS", "30"))
#: Of each kind of mistakes; `make prove-lifecycle` seeds all of them.
SEEDED = None if "LIFECYCLE_EXAMPLES" in os.environ else 2
ENOUGH = 60  # examples; the first dozen finds each mistake

Patch = Callable[[pytest.MonkeyPatch], None]


def explore(world: World, **changes: Any) -> None:
    """Random histories; the first that breaks anything is raised."""
    machine = type("OnThisDatabase", (Life,), {"fresh": world})
    given = {"max_examples": EXAMPLES, "phases": (Phase.generate, Phase.shrink), **changes}
    run_state_machine_as_test(
        machine,
        settings=settings(**given, stateful_step_count=STEPS, suppress_health_check=list(HealthCheck)),
    )


def test_every_history_goes_as_the_model_says(world: World) -> None:
    explore(world)


def rewritten(module: Any, statement: str, pattern: str, by: str) -> Patch:
    """A statement with a part of it changed."""

    def patch(monkeypatch: pytest.MonkeyPatch) -> None:
        wrong, times = re.subn(pattern, by, str(getattr(module, statement)))
        assert times == 1
        monkeypatch.setattr(module, statement, text(wrong))

    return patch


def _payers_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = str(messages._FENCE).replace("coalesce(CAST(m.group_name AS uuid), CAST(:user_id AS uuid))", ":user_id")
    monkeypatch.setattr(messages, "_FENCE", text(wrong))


def wrapped(module: Any, function: str, wrong: Callable[..., Any]) -> Patch:
    """A function that is given the right one first."""

    def patch(monkeypatch: pytest.MonkeyPatch) -> None:
        right = getattr(module, function)
        monkeypatch.setattr(module, function, lambda *args, **kwargs: wrong(right, *args, **kwargs))

    return patch


def _without_reserved(right: Callable[..., Usage], *args: Any, **kwargs: Any) -> Usage:
    usage = right(*args, **kwargs)
    return Usage(usage.used, 0, usage.limit)


def _released_too(right: Callable[..., None], tx: Any, delivery: Any, *args: Any, **kwargs: Any) -> None:
    quota.release(tx, delivery.job_id)
    right(tx, delivery, *args, **kwargs)


def _blind_ttl(monkeypatch: pytest.MonkeyPatch) -> None:
    wrapped(quota, "extend_living", lambda *_, **__: Batch(None, 0))(monkeypatch)
    rewritten(quota, "_SWEEP", r"AND NOT EXISTS \(SELECT FROM broker_message .*\)", "")(monkeypatch)


QUOTA: dict[str, Patch] = {
    "a settled reservation stays": rewritten(
        quota,
        "_SETTLE",
        r"DELETE FROM quota_reservations WHERE job_id = :job_id\s+RETURNING (.*?)\)",
        r"SELECT \1 FROM quota_reservations WHERE job_id = :job_id)",
    ),
    "reserved units are not counted": wrapped(quota, "usage", _without_reserved),
    "each attempt gives its reservation back": wrapped(end_job, "leave", _released_too),
    "a cancelled job keeps its reservation": wrapped(quota, "release", lambda *_: 0),
    "a job is billed to the period of its end": rewritten(
        quota, "_SETTLE", ":resource_id, accepted_at,", ":resource_id, :now,"
    ),
    "a reservation ends after an hour": _blind_ttl,
}
_YOUNGEST = """
    WITH woken AS (
    UPDATE kombu_message SET visible = true, visible_at = clock_timestamp(), delay_reason = NULL, rank = 0
     WHERE id IN (SELECT id FROM kombu_message
                   WHERE user_id = CAST(:user_id AS text) AND delay_reason IN ('snooze', 'parked')
                     AND :service <> '' AND (CAST(:step AS integer) IS NULL OR :step > 0)
                   ORDER BY id DESC LIMIT :most) RETURNING CAST(task_id AS uuid) AS id)
    INSERT INTO job_events (job_id, event, facts) SELECT id, 'woken', '{}' FROM woken"""
WORKERS: dict[str, Patch] = {
    "the fence does not look at the token": rewritten(
        messages, "_FENCE", r"broker_fence\(.+?\)\)", "(SELECT * FROM broker_message WHERE task_id = :task_id)"
    ),
    "slots have no limit": wrapped(start, "_limit", lambda *_: 99),
    "the youngest is woken": rewritten(messages, "_WAKE", r"(?s)^.+$", _YOUNGEST),
    "nobody is woken": wrapped(messages, "wake", lambda *_, **__: None),
}


def _worst(right: Callable[..., Any], rights: Any, turns: Any) -> Any:
    return right(rights[::-1], [-waits for waits in turns[::-1]])


PLACES: dict[str, Patch] = {
    "a job that somebody joins stays where it is": wrapped(choose_carrier, "joined", lambda *_: None),
    "a change of tier leaves joined jobs where they are": wrapped(choose_carrier, "settle_joined", lambda *_: None),
    "the longest line is chosen": wrapped(carriers, "best", _worst),
    "the slot is the payer's": _payers_slot,
    "a job waits on in the line of somebody who left it": wrapped(choose_carrier, "settle", lambda *_: None),
}
REQUESTS: dict[str, Patch] = {
    "a payer who leaves ends the job of others": wrapped(requests, "others", lambda *_: 0),
    "keys are forgotten": wrapped(idempotency, "add", lambda *_, **__: None),
}


@pytest.mark.parametrize(
    "mistakes", proofs([QUOTA, WORKERS, PLACES, REQUESTS], but=[QUOTA]), ids=["quota", "workers", "places", "requests"]
)
def test_mistakes_in_the_services_are_found(
    world: World, monkeypatch: pytest.MonkeyPatch, mistakes: dict[str, Patch]
) -> None:
    how = {"max_examples": ENOUGH, "phases": (Phase.generate,), "derandomize": True, "report_multiple_bugs": False}
    for mistake, patch in list(mistakes.items())[:SEEDED]:
        with monkeypatch.context() as patched:
            patch(patched)
            with pytest.raises(AssertionError) as found:
                explore(world, **how)
        print(f"{mistake}: {str(found.value)[:200]}")
