"""Specifications that meet each other, their owner's changes of mind, or the pruning (docs/adr/0047)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from service_harness.scribe import Scribe

from app.domain.lifecycle import Delivery, Outcome
from app.domain.specification import Mode
from app.errors import Conflict, NotFound
from app.services.analyses.submission import Wanted
from app.services.jobs.answers import Answer
from app.services.specifications import delete_document, share_links, specify, submit_specification
from app.services.specifications.submit_specification import WantedSpecification
from app.store.core.batch import Batch
from app.store.specifications import spec_documents, spec_words
from tests.conftest import World
from tests.race.scenes import Action, Make, Scene, cancelling
from tests.services.busy import account
from tests.services.specifications.writing import Writing, file_of, of_a_model

SHOP = file_of("tests/test_shop.py", "test_buys", "test_sells")
BILLED = "SELECT coalesce(sum(quota_amount), 0) FROM usage_events WHERE job_id = :id"
HELD = "SELECT coalesce(sum(reserved_amount), 0) FROM quota_reservations WHERE job_id = :id"


def of_its_own(world: World) -> Wanted:
    """A commit of a repository whose words no scene before has paid."""
    return world.wanted(f"shop-{uuid4().hex}")


def asking(world: World, user_id: UUID, analysis_id: UUID, mode: Mode = Mode.REGENERATE_CACHED) -> Action:
    who, wanted = account(world, user_id), WantedSpecification(analysis_id, "en", mode)
    return lambda w: submit_specification.submit(w.uow, who, wanted, w.policy, now=w.now)


def completing(world: World, delivery: Delivery, user_id: UUID) -> Action:
    """The finish alone: words and features are stored before the scene."""
    with world.uow.begin() as tx:
        asked = spec_documents.requested(tx, delivery.job_id)
    assert asked is not None
    written = specify._write(world.uow, delivery, user_id, asked, Scribe(), world.policy, lambda *_: None)
    specify._save(world.uow, delivery, written.specification)
    return lambda w: specify.finish(w.uow, delivery, user_id, written, now=w.now)


def pruning(world: World) -> Batch:
    """What it does to words; the rest of a round meets no specification under way."""
    with world.uow.begin() as tx:
        return spec_words.drop(tx, None, 1000, before=world.now - timedelta(days=180))


def two_accepts_of_one_specification(world: World) -> Scene:
    writing, user = Writing(world), world.user()
    analysis = writing.analysed(user, SHOP, wanted=of_its_own(world))

    def check(first: Answer, second: Answer) -> None:
        assert (first.is_known, second.is_known, first.job.id) == (False, False, second.job.id)
        assert world.value(HELD, id=first.job.id) == 2
        assert world.value("SELECT count(*) FROM spec_requests WHERE user_id = :id", id=user) == 1

    ask = asking(world, user, analysis, Mode.INITIAL)
    return Scene((ask, ask), check)


def an_accept_beside_the_finish_that_pays_for_its_words(world: World) -> Scene:
    writing, user, wanted = Writing(world), world.user(), of_its_own(world)
    under_way = writing.analysed(user, SHOP, wanted=wanted)
    other = writing.analysed(user, SHOP, wanted=replace(wanted, commit=f"{1:040x}"))
    delivery = writing.started(user, writing.submit(user, under_way))

    def check(answer: Answer, ended: Outcome) -> None:
        assert (answer.is_known, ended) == (False, Outcome.COMPLETED)
        assert world.value(BILLED, id=delivery.job_id) == 2
        held = world.value(HELD, id=answer.job.id)
        assert held in {0, 2}  # after the finish, or before it
        job_id = answer.job.id
        assert writing.write(writing.started(user, job_id), user) is Outcome.COMPLETED
        assert world.value(BILLED, id=job_id) == 0  # whatever was reserved

    return Scene((asking(world, user, other), completing(world, delivery, user)), check)


def a_cancel_beside_the_finish_of_a_specification(world: World) -> Scene:
    writing, user = Writing(world), world.user()
    delivery = writing.started(user, writing.submit(user, writing.analysed(user, SHOP, wanted=of_its_own(world))))

    def check(left: Any, ended: Outcome) -> None:
        kept = ended is Outcome.COMPLETED
        assert isinstance(left, Conflict) if kept else (left, ended) == (None, Outcome.CANCELLED)
        assert status_of_document(world, delivery) == ("completed" if kept else "cancelled")
        assert world.value(BILLED, id=delivery.job_id) == (2 if kept else 0)
        features = "SELECT count(*) FROM spec_features WHERE document_id = :id"
        assert world.value(features, id=delivery.job_id) == int(kept)

    return Scene((cancelling(delivery.job_id, account(world, user)), completing(world, delivery, user)), check)


def two_finishes_of_the_same_unpaid_words(world: World) -> Scene:
    writing, users, wanted = Writing(world), [world.user() for _ in range(2)], of_its_own(world)
    analysis = writing.analysed(users[0], SHOP, wanted=wanted)
    deliveries = [writing.started(user, writing.submit(user, analysis)) for user in users]

    def check(*outcomes: Outcome) -> None:
        assert outcomes == (Outcome.COMPLETED, Outcome.COMPLETED)
        assert sorted(int(world.value(BILLED, id=one.job_id)) for one in deliveries) == [0, 2]  # type: ignore[call-overload]

    actions = tuple(completing(world, one, user) for one, user in zip(deliveries, users, strict=True))
    return Scene(actions, check)


def the_pruning_of_old_words_beside_a_finish(world: World) -> Scene:
    writing, user, wanted = Writing(world), world.user(), of_its_own(world)
    writing.written(user, writing.analysed(user, SHOP, wanted=wanted))
    world.rows("UPDATE spec_words SET used_at = :old RETURNING key", old=world.now - timedelta(days=181))
    other = writing.analysed(user, SHOP, wanted=replace(wanted, commit=f"{1:040x}"))
    delivery = writing.started(user, writing.submit(user, other, Mode.REGENERATE_CACHED))

    def check(_: Any, ended: Outcome) -> None:
        assert ended is Outcome.COMPLETED
        assert world.value(BILLED, id=delivery.job_id) == 0

    return Scene((pruning, completing(world, delivery, user)), check)


def two_shares_of_one_document(world: World) -> Scene:
    writing, user = Writing(world), world.user()
    job_id, who = writing.written(user, writing.analysed(user, SHOP, wanted=of_its_own(world))), account(world, user)

    def share(w: World) -> str:
        return share_links.make(w.uow, job_id, who, now=w.now)

    def check(*secrets: str) -> None:
        found = [secret for secret in secrets if is_shared(world, secret)]
        assert len(found) == 1  # the later one

    return Scene((share, share), check)


def a_share_beside_its_withdrawal(world: World) -> Scene:
    writing, user = Writing(world), world.user()
    job_id, who = writing.written(user, writing.analysed(user, SHOP, wanted=of_its_own(world))), account(world, user)
    first = share_links.make(world.uow, job_id, who, now=world.now)

    def check(secret: str, withdrawn: None) -> None:
        assert withdrawn is None
        assert not is_shared(world, first)
        shared_at = share_links.made_at(world.uow, job_id, who)
        assert is_shared(world, secret) == (shared_at is not None)

    return Scene(
        (
            lambda w: share_links.make(w.uow, job_id, who, now=w.now),
            lambda w: share_links.withdraw(w.uow, job_id, who),
        ),
        check,
    )


def is_shared(world: World, secret: str) -> bool:
    try:
        share_links.document_of(world.uow, secret)
    except NotFound:
        return False
    return True


def status_of_document(world: World, delivery: Delivery) -> object:
    return world.value("SELECT CAST(status AS text) FROM spec_documents WHERE id = :id", id=delivery.job_id)


def a_deletion_beside_the_finish_of_the_next_version(world: World) -> Scene:
    of_model = of_a_model(world)
    writing, user = Writing(of_model), world.user()
    analysis = writing.analysed(user, SHOP, wanted=of_its_own(world))
    first = writing.written(user, analysis)
    delivery = writing.started(user, writing.submit(user, analysis, Mode.REGENERATE_FRESH))
    who = account(world, user)

    def check(deleted: None, ended: Outcome) -> None:
        assert (deleted, ended) == (None, Outcome.COMPLETED)
        assert world.rows("SELECT 1 FROM spec_documents WHERE id = :id", id=first) == []
        left = world.rows("SELECT version, units FROM spec_documents WHERE id = :id", id=delivery.job_id)
        assert left in ([{"version": 1, "units": 2}], [{"version": 2, "units": 2}])

    def delete(w: World) -> None:
        delete_document.delete(w.uow, first, who, w.policy, now=w.now)

    return Scene((delete, completing(of_model, delivery, user)), check)


SCENES: Sequence[Make] = (
    two_accepts_of_one_specification,
    an_accept_beside_the_finish_that_pays_for_its_words,
    a_cancel_beside_the_finish_of_a_specification,
    two_finishes_of_the_same_unpaid_words,
    the_pruning_of_old_words_beside_a_finish,
    two_shares_of_one_document,
    a_share_beside_its_withdrawal,
    a_deletion_beside_the_finish_of_the_next_version,
)
