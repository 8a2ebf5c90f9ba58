"""Input that has not changed gives the same document; versions are bounded, and deleted on request (docs/adr/0059)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from service_harness.scribe import Scribe

from app.domain.lifecycle import Outcome
from app.domain.plans import Tier
from app.domain.specification import BUILT_IN, MOST_VERSIONS, Mode
from app.errors import Conflict, Forbidden, NotFound
from app.services.operations.audit import HOLDS, audit
from app.services.operations.prune import WORDS_LIVE, prune
from app.services.specifications import documents, share_links
from app.services.specifications.delete_document import delete
from app.services.specifications.offer import offer
from app.store.specifications import spec_documents
from tests.conftest import NOW, World
from tests.services.specifications.writing import SHOP, Writing, file_of, holds, left

REGENERATING = (Mode.REGENERATE_CACHED, Mode.REGENERATE_FRESH)


def sentences(writing: Writing, document_id: UUID) -> list[str]:
    with writing.world.uow.begin() as tx:
        return [one["sentence"] for row in spec_documents.features(tx, document_id) for one in row.behaviours]


def audited(world: World) -> list[str]:
    """Broken rules, where a bill may have outlived its job."""
    return [finding.name for finding in audit(world.uow) if finding.status != HOLDS]


def versions(writing: Writing, user_id: UUID, document_id: UUID) -> list[int]:
    uow = writing.world.uow
    found = documents.versions(uow, documents.head(uow, document_id, writing.account(user_id)))
    return [one.version for one in found]


def test_what_has_not_changed_is_answered_with_the_document_that_is_there(writing: Writing) -> None:
    user = writing.world.user()
    for tests in (file_of("tests/test_shop.py", "test_buys", "test_buys"), file_of("tests/test_none.py")):
        analysis = writing.analysed(user, tests)
        document = writing.written(user, analysis)
        for _ in range(3):
            answer = writing.ask(user, analysis, Mode.REGENERATE_CACHED)
            assert (answer.is_known, answer.job.id, answer.job.status) == (True, document, "completed")
    assert (writing.billed(user), left(writing.world)) == (1, [])
    holds(writing.world)


def test_words_that_somebody_had_written_anew_make_a_new_version(writing: Writing) -> None:
    ann, bob = writing.world.user(), writing.world.user()
    analysis = writing.analysed(ann, SHOP)
    first = writing.written(ann, analysis)
    writing.written(bob, analysis, Mode.REGENERATE_FRESH, Scribe(take=1))
    second = writing.written(ann, analysis, Mode.REGENERATE_CACHED)
    assert sentences(writing, first) == ["Says test_buys.", "Says test_sells."]
    assert sentences(writing, second) == ["Says test_buys, again.", "Says test_sells, again."]
    assert writing.ask(ann, analysis, Mode.REGENERATE_CACHED).job.id == second
    assert (writing.billed(ann), writing.billed(bob)) == (2, 2)
    holds(writing.world)


def test_another_generator_makes_a_new_version(writing: Writing) -> None:
    user = writing.world.user()
    analysis = writing.analysed(user, SHOP)
    first = writing.written(user, analysis)
    other = Writing(replace(writing.world, policy=replace(writing.world.policy, generator="another model")))
    second = other.written(user, analysis, Mode.REGENERATE_CACHED)
    assert (versions(writing, user, first), writing.billed(user)) == ([2, 1], 4)
    assert other.ask(user, analysis, Mode.REGENERATE_CACHED).job.id == second
    assert not writing.ask(user, analysis, Mode.REGENERATE_CACHED).is_known  # the newest is not by this one


def test_the_built_in_generator_writes_nothing_anew_and_is_not_paid_for_it(world: World) -> None:
    writing, user = Writing(world), world.user()
    assert world.policy.generator == BUILT_IN
    analysis = writing.analysed(user, SHOP)
    assert writing.cost(user, analysis, Mode.REGENERATE_FRESH) == 2
    document = writing.written(user, analysis, Mode.REGENERATE_FRESH)
    for mode in REGENERATING:
        assert writing.cost(user, analysis, mode) == 0
        answer = writing.ask(user, analysis, mode)
        assert (answer.is_known, answer.job.id) == (True, document)
    assert writing.billed(user) == 2
    offered = offer(world.uow, writing.account(user), analysis, "en", world.policy)
    assert (offered.writes_anew, offered.units) == (False, {Mode.INITIAL: 0, Mode.REGENERATE_CACHED: 0})
    holds(world)


@pytest.mark.proof
def test_more_versions_than_are_kept_drop_the_oldest_with_its_link(writing: Writing) -> None:
    world = writing.world
    user, other = world.user(Tier.ENTERPRISE), world.user(Tier.ENTERPRISE)
    analysis = writing.analysed(user, SHOP)
    first = writing.written(user, analysis)
    others = writing.written(other, analysis)
    secret = share_links.make(world.uow, first, writing.account(user), now=NOW)
    made = [writing.written(user, analysis, Mode.REGENERATE_FRESH) for _ in range(MOST_VERSIONS - 1)]
    assert share_links.document_of(world.uow, secret).id == first
    made.append(writing.written(user, analysis, Mode.REGENERATE_FRESH))
    assert versions(writing, user, made[-1]) == list(range(MOST_VERSIONS + 1, 1, -1))
    with pytest.raises(NotFound):
        share_links.document_of(world.uow, secret)
    assert world.rows("SELECT 1 FROM spec_features WHERE document_id = :id", id=first) == []
    assert versions(writing, other, others) == [1]
    assert writing.billed(user) == 2 * (MOST_VERSIONS + 1)
    assert audited(world) == []


def test_a_summary_that_was_answered_is_not_asked_for_again(writing: Writing) -> None:
    ann, bob, scribe = writing.world.user(), writing.world.user(), Scribe()
    analysis = writing.analysed(ann, SHOP)
    writing.written(ann, analysis, scribe=scribe)
    assert scribe.summarised == 1
    writing.written(bob, analysis, scribe=scribe)
    fresh = writing.written(bob, analysis, Mode.REGENERATE_FRESH, scribe)
    more = writing.analysed(ann, file_of("tests/test_shop.py", "test_buys", "test_haggles"))
    writing.written(ann, more, scribe=scribe)  # another test in the same place
    assert scribe.summarised == 1
    assert documents.head(writing.world.uow, fresh, writing.account(bob)).summary["text"] == "1 domains."
    writing.written(ann, writing.analysed(ann, SHOP, file_of("tests/test_till.py", "test_opens")), scribe=scribe)
    assert scribe.summarised == 2
    elsewhere = writing.analysed(ann, SHOP, wanted=writing.world.wanted("other"))
    writing.written(ann, elsewhere, scribe=scribe)  # names of one repository choose no words of another one
    assert scribe.summarised == 3


def test_all_words_of_a_document_are_used_by_it(writing: Writing) -> None:
    world, user, scribe = writing.world, writing.world.user(), Scribe()
    writing.written(user, writing.analysed(user, SHOP), scribe=scribe)
    world.rows("UPDATE spec_words SET used_at = :old RETURNING key", old=NOW - WORDS_LIVE - timedelta(days=1))
    writing.written(user, writing.analysed(user, SHOP), scribe=scribe)
    assert prune(world.uow, now=NOW).words == 0
    assert (len(scribe.placed), len(scribe.phrased), scribe.summarised) == (2, 2, 1)


def test_a_deleted_document_is_gone_with_its_link_and_what_was_paid_stays_paid(writing: Writing) -> None:
    world, user = writing.world, writing.world.user()
    analysis = writing.analysed(user, SHOP)
    first = writing.written(user, analysis)
    secret = share_links.make(world.uow, first, writing.account(user), now=NOW)
    delete(world.uow, first, writing.account(user), world.policy, now=NOW)
    with pytest.raises(NotFound):
        documents.head(world.uow, first, writing.account(user))
    with pytest.raises(NotFound):
        share_links.document_of(world.uow, secret)
    with pytest.raises(NotFound):
        delete(world.uow, first, writing.account(user), world.policy, now=NOW)
    for table in ("spec_documents", "spec_features", "spec_requests", "spec_shares"):
        assert world.value(f"SELECT count(*) FROM {table}") == 0, table
    assert writing.billed(user) == 2
    assert writing.cost(user, analysis) == 0
    writing.written(user, analysis)
    assert writing.billed(user) == 2
    assert audited(world) == []


def test_only_the_owner_deletes_and_only_what_has_completed(writing: Writing) -> None:
    world, user = writing.world, writing.world.user()
    document = writing.written(user, writing.analysed(user, SHOP))
    with pytest.raises(NotFound):
        delete(world.uow, document, writing.account(world.user()), world.policy, now=NOW)
    operator = replace(writing.account(world.user()), is_operator=True)
    with pytest.raises(Forbidden, match="owner"):
        delete(world.uow, document, operator, world.policy, now=NOW)
    waiting = writing.submit(user, writing.analysed(user, SHOP))
    delete(world.uow, waiting, writing.account(user), world.policy, now=NOW)
    assert left(world) == []
    delete(world.uow, waiting, writing.account(user), world.policy, now=NOW)  # cancelled already
    assert documents.head(world.uow, document, writing.account(user)).id == document
    running = writing.started(user, writing.submit(user, writing.analysed(user, SHOP)))
    delete(world.uow, running.job_id, writing.account(user), world.policy, now=NOW)
    assert writing.write(running, user) is Outcome.CANCELLED
    world.rows(
        "UPDATE spec_documents SET status = 'failed', error_code = 'x' WHERE id = :id RETURNING id", id=running.job_id
    )
    with pytest.raises(Conflict, match="failed"):
        delete(world.uow, running.job_id, writing.account(user), world.policy, now=NOW)
