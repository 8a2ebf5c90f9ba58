"""What a soak notes of a job's end, and so which jobs it expects to be billed."""

from __future__ import annotations

import time
from datetime import timedelta
from uuid import UUID

import pytest

from app.services.jobs.cancel import cancel
from bench.soak.ageing import Ageing, Job
from tests.conftest import NOW, World
from tests.services.busy import account


@pytest.mark.parametrize("comes_back", [False, True])
def test_a_job_is_free_if_its_payer_has_left_it_and_did_not_come_back(world: World, comes_back: bool) -> None:
    payer, wanted = world.user(), world.wanted()
    job_id = world.submit(payer, wanted)
    world.submit(world.user(), wanted)
    ageing = Ageing(world.uow, timedelta(minutes=1))
    assert ageing.accept(Job(str(job_id), "analysis", "", "shop", "", time.monotonic()))
    cancel(world.uow, job_id, account(world, payer), world.policy, now=NOW)
    if comes_back:
        world.submit(payer, wanted)
    complete(world, job_id, payer)
    ageing.note_ends()
    assert (ageing.pending, ageing.free) == ({}, set() if comes_back else {str(job_id)})
    assert ageing.completed["analysis"] == ({str(job_id)} if comes_back else set())
    assert world.value("SELECT count(*) FROM usage_events") == comes_back


def complete(world: World, job_id: UUID, payer: UUID) -> None:
    delivery = world.lease(job_id)
    world.start(delivery, payer)
    world.finish(delivery, payer)
