"""Whoever has used their share of the model's day gets built-in sentences, and others go on (docs/adr/0069)."""

from __future__ import annotations

from decimal import Decimal
from uuid import UUID

from service_harness.model_double import ModelDouble
from service_harness.model_runs import generator
from sqlalchemy import text

from app.domain.model_calls import Limits
from app.domain.specification import Mode
from app.services.specifications.delete_document import delete
from app.services.specifications.model_gate import ModelGate
from app.services.specifications.specify import specify
from app.specview.model.faults import Fault
from app.specview.model.generator import ModelGenerator
from tests.conftest import NOW
from tests.services.specifications.writing import Writing, file_of

USED = text("UPDATE model_shares SET tokens = :tokens WHERE user_id = :id")
#: A share of 6,000 tokens, which is enough for one small document.
LIMITS = Limits(requests_per_minute=1_000_000, tokens_per_day=60_000, share=Decimal("0.1"))


def written(writing: Writing, double: ModelDouble, user_id: UUID, analysis_id: UUID) -> tuple[UUID, ModelGenerator]:
    """A document, and the run of the model that wrote it."""
    world, job_id = writing.world, writing.submit(user_id, analysis_id, Mode.REGENERATE_CACHED)
    run = generator(double, gate=ModelGate(world.uow, "double", LIMITS, user_id))
    specify(
        world.uow, writing.started(user_id, job_id), user_id, run, world.policy, checkpoint=lambda *_: None, now=NOW
    )
    return job_id, run


def test_a_used_share_falls_back_also_after_the_documents_are_deleted_and_others_go_on(writing: Writing) -> None:
    world = writing.world
    ann, bob, *_ = [world.user() for _ in range(10)]
    ones, others = [
        [writing.analysed(user, file_of("tests/test_shop.py", name)) for name in names]
        for user, names in ((ann, ("test_buys", "test_sells", "test_haggles")), (bob, ("test_opens_the_shop",)))
    ]
    with ModelDouble.serving() as double:
        first, run = written(writing, double, ann, ones[0])
        assert run.meter.given_up is None
        with world.uow.begin() as tx:
            tx.run(USED, tokens=5_900, id=ann)
        delete(world.uow, first, writing.account(ann), world.policy, now=NOW)
        before = len(double.calls)
        for analysis in ones[1:]:
            document, run = written(writing, double, ann, analysis)
            assert run.meter.given_up is Fault.SHARE_OF_DAY
            delete(world.uow, document, writing.account(ann), world.policy, now=NOW)
        assert len(double.calls) == before
        _, run = written(writing, double, bob, others[0])
    assert run.meter.given_up is None
    assert len(double.calls) > before
    assert (writing.billed(ann), writing.billed(bob)) == (1, 1)
