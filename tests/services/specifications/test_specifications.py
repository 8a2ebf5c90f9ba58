"""A specification from accept to its document: what it costs, who sees it, what is left (docs/adr/0047)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from service_harness.scribe import Scribe, Struck
from sqlalchemy import text

from app.domain.lifecycle import JobFailedError, Outcome
from app.domain.plans import Tier
from app.domain.specification import Mode
from app.errors import Conflict, Forbidden, InvalidInput, NotFound, QuotaExceeded
from app.services.accounts import accounts
from app.services.accounts.forget import forget
from app.services.jobs import read_jobs
from app.services.operations.audit import HOLDS, audit
from app.services.operations.prune import prune
from app.services.specifications import share_links
from app.store.specifications import spec_documents
from tests.conftest import NOW
from tests.services.specifications.writing import SHOP, Writing, file_of, holds, left


def test_a_specification_is_written_billed_by_its_tests_and_shown(writing: Writing) -> None:
    world = writing.world
    user = world.user()
    analysis = writing.analysed(user, SHOP, file_of("tests/test_till.py", "test_opens"))
    answer = writing.ask(user, analysis)
    assert (answer.is_known, answer.job.status, answer.job.service) == (False, "queued", "specview")
    assert answer.job.queue == "specview_default"
    assert world.value("SELECT reserved_amount FROM quota_reservations WHERE event_type = 'specview'") == 3
    job_id = answer.job.id
    assert writing.write(writing.started(user, job_id), user) is Outcome.COMPLETED
    job = read_jobs.job(world.uow, job_id, writing.account(user), world.policy, service=None, now=NOW)
    assert (job.status, job.writing.version, job.writing.units, job.billed) == ("completed", 1, 3, True)
    assert (job.writing.analysis_id, job.writing.language, job.writing.mode) == (analysis, "en", "initial")
    assert job.summary == {
        "text": "2 domains.", "domains": 2, "features": 2, "behaviours": 3, "subtests": 0, "by_status": {"active": 3},
        "fell_back": 0,
    }  # fmt: skip
    with world.uow.begin() as tx:
        rows = spec_documents.features(tx, job_id)
    assert [(row.domain, [one["sentence"] for one in row.behaviours]) for row in rows] == [
        ("tests/test_shop.py", ["Says test_buys.", "Says test_sells."]),
        ("tests/test_till.py", ["Says test_opens."]),
    ]
    assert (writing.billed(user), left(world)) == (3, [])
    holds(world)


def test_asking_again_shows_what_is_there_and_costs_nothing(writing: Writing) -> None:
    user = writing.world.user()
    analysis = writing.analysed(user, SHOP)
    job_id = writing.submit(user, analysis)
    under_way = writing.ask(user, analysis, Mode.REGENERATE_FRESH)
    assert (under_way.is_known, under_way.job.id) == (False, job_id)
    writing.write(writing.started(user, job_id), user)
    again = writing.ask(user, analysis)
    assert (again.is_known, again.job.id, again.job.status) == (True, job_id, "completed")
    assert writing.billed(user) == 2
    holds(writing.world)


def test_each_mode_takes_what_it_says_from_what_is_kept(writing: Writing) -> None:
    user, scribe = writing.world.user(), Scribe()
    analysis = writing.analysed(user, SHOP)
    first = writing.written(user, analysis, scribe=scribe)
    other = writing.world.user()
    cached = writing.written(other, analysis, Mode.REGENERATE_CACHED, scribe)
    assert (scribe.placed, scribe.phrased, writing.billed(user), writing.billed(other)) == (
        ["test_buys", "test_sells"], ["test_buys", "test_sells"], 2, 0,
    )  # fmt: skip
    fresh = writing.written(user, analysis, Mode.REGENERATE_FRESH, scribe)
    assert (len(scribe.phrased), writing.billed(user)) == (4, 4)
    assert (versions(writing, user, analysis), versions(writing, other, analysis)) == (
        {first: 1, fresh: 2},
        {cached: 1},
    )
    holds(writing.world)


def versions(writing: Writing, user_id: UUID, analysis_id: UUID) -> dict[UUID, int]:
    with writing.world.uow.begin() as tx:
        return {row.id: row.version for row in spec_documents.documents(tx, user_id, analysis_id=analysis_id)}


def test_a_new_commit_costs_what_changed_and_moves_nothing_else(writing: Writing) -> None:
    user, scribe = writing.world.user(), Scribe()
    writing.written(user, writing.analysed(user, SHOP, wanted=writing.world.wanted()), scribe=scribe)
    scribe.placed.clear()
    scribe.phrased.clear()
    changed = writing.analysed(
        user, file_of("tests/test_shop.py", "test_sells", "test_haggles"), wanted=writing.world.wanted()
    )
    assert writing.cost(user, changed) == 1
    writing.written(user, changed, scribe=scribe)
    assert (scribe.placed, scribe.phrased, writing.billed(user)) == (["test_haggles"], ["test_haggles"], 3)


def test_parts_that_fell_back_are_free_and_not_kept(writing: Writing) -> None:
    user, scribe = writing.world.user(), Scribe(falls_back=frozenset({"test_buys"}))
    analysis = writing.analysed(user, SHOP)
    job_id = writing.written(user, analysis, scribe=scribe)
    assert writing.billed(user) == 1
    with writing.world.uow.begin() as tx:
        [feature] = spec_documents.features(tx, job_id)
    assert [one.get("fell_back", False) for one in feature.behaviours] == [True, False]
    assert writing.cost(user, analysis, Mode.REGENERATE_CACHED) == 1
    writing.written(user, analysis, Mode.REGENERATE_CACHED)
    assert writing.billed(user) == 2
    holds(writing.world)


def test_an_attempt_that_was_cut_off_is_gone_on_with_and_billed_once(writing: Writing) -> None:
    world, user = writing.world, writing.world.user()
    analysis = writing.analysed(user, SHOP)
    for mode in (Mode.INITIAL, Mode.REGENERATE_FRESH):
        before, scribe = writing.billed(user), Scribe(strikes_at=1)
        job_id = writing.submit(user, analysis, mode)
        with pytest.raises(Struck):
            writing.write(writing.started(user, job_id), user, scribe)
        world.lose(job_id)
        again = Scribe()
        assert writing.write(writing.started(user, job_id), user, again) is Outcome.COMPLETED
        assert (scribe.phrased, again.phrased, writing.billed(user) - before) == (["test_buys"], ["test_sells"], 2)
    holds(world)


def test_an_analysis_without_tests_makes_an_empty_document_for_nothing(writing: Writing) -> None:
    user = writing.world.user()
    analysis = writing.analysed(user)
    job_id = writing.written(user, analysis)
    job = read_jobs.job(writing.world.uow, job_id, writing.account(user), writing.world.policy, service=None, now=NOW)
    assert (job.status, job.summary["behaviours"], job.billed) == ("completed", 0, False)
    holds(writing.world)


def test_who_may_not_ask_is_told_why(writing: Writing) -> None:
    world, user = writing.world, writing.world.user()
    analysis = writing.analysed(user, SHOP)
    with pytest.raises(InvalidInput, match="'xx'"):
        writing.ask(user, analysis, language="xx")
    with pytest.raises(NotFound):
        writing.ask(user, uuid4())
    with pytest.raises(Conflict, match="wait until it has completed"):
        writing.ask(user, world.submit(user))
    visitor = accounts.anonymous(world.uow, "192.0.2.1", "secret", now=NOW)
    with pytest.raises(Forbidden, match="sign in"):
        writing.ask(visitor.user_id, analysis)
    document = writing.submit(user, analysis)
    with pytest.raises(NotFound):
        writing.ask(user, document)
    with pytest.raises(NotFound):
        read_jobs.job(world.uow, document, writing.account(world.user()), world.policy, service=None, now=NOW)
    with pytest.raises(NotFound):
        read_jobs.job(world.uow, document, writing.account(user), world.policy, now=NOW)


def test_the_quota_holds_to_the_unit_and_one_over_it_changes_nothing(writing: Writing) -> None:
    world, user = writing.world, writing.world.user()
    analysis = writing.analysed(user, SHOP)
    world.rows("UPDATE subscription_plans SET spec_units_per_period = 2 WHERE tier = 'free' RETURNING tier")
    writing.written(user, analysis)
    with pytest.raises(QuotaExceeded) as refused:
        writing.ask(user, analysis, Mode.REGENERATE_FRESH)
    assert (refused.value.extensions["used"], refused.value.extensions["limit"]) == (2, 2)
    assert left(world) == []
    assert writing.ask(user, analysis, Mode.REGENERATE_CACHED).is_known
    holds(world)


def test_both_services_have_slots_of_their_own(writing: Writing) -> None:
    world, user = writing.world, writing.world.user(Tier.FREE)
    analysis = writing.analysed(user, SHOP)
    other = writing.analysed(user, file_of("tests/test_other.py", "test_x"), wanted=world.wanted("other"))
    world.running(user)
    writing.started(user, writing.submit(user, analysis))
    second = writing.submit(user, other)
    assert writing.start(world.lease(second), user) is Outcome.SNOOZED
    assert world.value("SELECT count(*) FROM execution_slots") == 2


def test_a_zombie_changes_nothing(writing: Writing) -> None:
    world, user = writing.world, writing.world.user()
    job_id = writing.submit(user, writing.analysed(user, SHOP))
    zombie = writing.started(user, job_id)
    world.lose(job_id)
    alive = writing.started(user, job_id)
    assert writing.write(zombie, user) is Outcome.STALE
    assert writing.write(alive, user) is Outcome.COMPLETED
    assert writing.write(zombie, user) is Outcome.STALE
    assert world.value("SELECT count(*) FROM spec_features WHERE document_id = :id", id=job_id) == 1
    assert writing.billed(user) == 2
    holds(world)


def test_a_specification_of_an_analysis_that_is_gone_fails_and_says_so(writing: Writing) -> None:
    world, user = writing.world, writing.world.user()
    analysis = writing.analysed(user, SHOP)
    job_id = writing.submit(user, analysis)
    delivery = writing.started(user, job_id)
    with world.uow.begin() as tx:
        tx.run(text("DELETE FROM analyses WHERE id = :id"), id=analysis)
    with pytest.raises(JobFailedError) as failed:
        writing.write(delivery, user)
    assert (failed.value.failure.code, failed.value.failure.retryable) == ("analysis_gone", False)


def test_documents_and_words_go_when_their_time_is_over(writing: Writing) -> None:
    world, user = writing.world, writing.world.user()
    job_id = writing.written(user, writing.analysed(user, SHOP))
    prune(world.uow, now=NOW + timedelta(days=29))
    assert world.value("SELECT count(*) FROM spec_features") == 1
    prune(world.uow, now=NOW + timedelta(days=31))
    tables = ("spec_requests", "spec_documents", "spec_features", "analyses")
    assert [world.value(f"SELECT count(*) FROM {table}") for table in tables] == [0, 0, 0, 0]
    assert world.value("SELECT count(*) FROM usage_events WHERE job_id = :id", id=job_id) == 1
    assert world.value("SELECT count(*) FROM spec_words") == 5  # two places, two sentences, a summary
    assert prune(world.uow, now=datetime.now(UTC) + timedelta(days=181)).words == 5
    assert world.value("SELECT count(*) FROM spec_words") == 0
    assert [finding for finding in audit(world.uow) if finding.status != HOLDS] == []


def test_nothing_is_left_of_an_account_that_is_deleted(writing: Writing) -> None:
    world, ann, bob = writing.world, writing.world.user(), writing.world.user()
    private = writing.analysed(ann, SHOP, wanted=world.wanted("secret"))
    world.rows("UPDATE codebases SET is_private = true RETURNING id")
    writing.written(ann, private)
    queued = writing.submit(ann, private, Mode.REGENERATE_FRESH)
    public = writing.analysed(bob, SHOP, wanted=world.wanted("open"))
    kept = writing.written(bob, public)
    forget(world.uow, ann, actor="test", now=NOW)
    tables = ("spec_requests", "spec_documents", "spec_words")
    for table in tables:
        assert str(ann) not in str(world.rows(f"SELECT * FROM {table}")), table
    assert world.rows("SELECT id FROM spec_documents") == [{"id": kept}]
    assert world.value("SELECT count(*) FROM spec_words") == 5
    assert world.rows("SELECT 1 AS found FROM kombu_message WHERE task_id = :id", id=str(queued)) == []
    assert [finding for finding in audit(world.uow) if finding.status != HOLDS] == []


def test_a_link_shares_a_document_until_it_is_withdrawn(writing: Writing) -> None:
    world, user = writing.world, writing.world.user()
    job_id = writing.submit(user, writing.analysed(user, SHOP))
    with pytest.raises(Conflict, match="queued"):
        share_links.make(world.uow, job_id, writing.account(user), now=NOW)
    writing.write(writing.started(user, job_id), user)
    first = share_links.make(world.uow, job_id, writing.account(user), now=NOW)
    second = share_links.make(world.uow, job_id, writing.account(user), now=NOW)
    assert share_links.document_of(world.uow, second).id == job_id
    with pytest.raises(NotFound):
        share_links.document_of(world.uow, first)
    with pytest.raises(NotFound):
        share_links.make(world.uow, job_id, writing.account(world.user()), now=NOW)
    share_links.withdraw(world.uow, job_id, writing.account(user))
    with pytest.raises(NotFound):
        share_links.document_of(world.uow, second)
    holds(world)
