"""The sweep extends reservations in batches, so that no finish waits for all of them.

EXTEND_RESERVATIONS: how many (`make prove-retention`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from time import monotonic
from typing import Any

import pytest

from app.services.operations.run_in_batches import MOST
from app.services.operations.sweep import sweep
from app.store.core.batch import Batch
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.jobs import quota
from tests.conftest import NOW, World

RESERVATIONS = int(os.environ.get("EXTEND_RESERVATIONS", "5000"))
FILL = (
    """WITH made AS (INSERT INTO kombu_message (payload, queue_id, task_id, visible, visible_at)
       SELECT '{}', 2, md5(n::text)::uuid::text, false, clock_timestamp() + interval '1 day'
         FROM generate_series(1, CAST(:most AS integer)) AS n RETURNING 1) SELECT count(*) FROM made""",
    """WITH made AS (INSERT INTO quota_reservations (user_id, event_type, reserved_amount, job_id, accepted_at, expires_at)
       SELECT CAST(:user_id AS uuid), 'analysis', 1, md5(n::text)::uuid, :now, :now
         FROM generate_series(1, CAST(:most AS integer)) AS n RETURNING 1) SELECT count(*) FROM made""",
)


class Timed(UnitOfWork):
    """Keeps how long each transaction took."""

    seconds: list[float] = []  # noqa: RUF012 - of one test

    @contextmanager
    def begin(self) -> Iterator[Tx]:
        began = monotonic()
        with super().begin() as tx:
            yield tx
        self.seconds.append(monotonic() - began)


@pytest.mark.proof
@pytest.mark.timeout(0 if RESERVATIONS > 10_000 else 120)
def test_a_sweep_extends_any_number_of_reservations_a_batch_at_a_time(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.rows(FILL[0], most=RESERVATIONS)
    world.rows(FILL[1], most=RESERVATIONS, user_id=world.user(), now=NOW)
    world.rows("DELETE FROM kombu_message WHERE task_id = md5('1')::uuid::text RETURNING 1")
    batches, extend = [], quota.extend_living

    def noted(*arguments: Any, **named: Any) -> Batch:
        batches.append(extend(*arguments, **named))
        return batches[-1]

    monkeypatch.setattr(quota, "extend_living", noted)
    dry = sweep(world.uow, world.policy, now=NOW, dry_run=True)
    assert (dry.extended, dry.orphans) == (RESERVATIONS - 1, 0)
    batches.clear()
    done = sweep(Timed(world.uow.engine), world.policy, now=NOW)
    assert done.extended == sum(batch.rows for batch in batches) == RESERVATIONS - 1
    assert max(batch.rows for batch in batches) <= MOST
    assert len(batches) > RESERVATIONS / MOST
    left = world.value("SELECT count(*) FROM quota_reservations WHERE expires_at = :now", now=NOW)
    assert left == 1
    print(f"\n{RESERVATIONS} reservations: {len(batches)} batches, the slowest {max(Timed.seconds):.3f} s")


def test_a_batch_passes_over_what_a_finish_holds(world: World) -> None:
    user = world.user()
    delivery = world.running(user)
    world.rows("UPDATE quota_reservations SET expires_at = :now RETURNING id", now=NOW)
    with world.uow.begin() as tx, ThreadPoolExecutor(1) as thread:
        quota.release(tx, delivery.job_id)
        assert thread.submit(sweep, world.uow, world.policy, now=NOW).result(timeout=30).extended == 0
