"""Words that a model does not get right are not requested again, unless somebody pays for all anew (docs/adr/0069)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from service_harness import model_double as answers
from service_harness.model_double import ModelDouble, Raw, completion
from service_harness.model_runs import generator
from service_harness.scribe import Scribe

from app.domain.specification import Mode
from app.services.operations.prune import WORDS_LIVE, prune
from app.services.specifications import documents
from app.services.specifications.delete_document import delete
from app.services.specifications.specify import specify
from app.specview.generator import Generator
from tests.conftest import NOW
from tests.services.specifications.writing import SHOP, Writing, holds

CUT_OFF = lambda call: Raw(completion("", finish="length"))  # noqa: E731
REFUSED = frozenset({"test_sells"})


def fallen_back(writing: Writing, user_id: UUID, document_id: UUID) -> list[str]:
    """Names of the tests whose sentences are marked as the built-in generator's."""
    uow = writing.world.uow
    found = documents.specification(uow, documents.head(uow, document_id, writing.account(user_id)))
    behaviours = [one for domain in found.domains for feature in domain.features for one in feature.behaviours]
    return [one.subject.name for one in behaviours if one.fell_back]


def test_refused_words_are_free_and_requested_once(writing: Writing) -> None:
    user, scribe = writing.world.user(), Scribe(refused=REFUSED)
    analysis = writing.analysed(user, SHOP)
    document = writing.written(user, analysis, scribe=scribe)
    assert (fallen_back(writing, user, document), writing.billed(user)) == (["test_sells"], 1)
    assert writing.cost(user, analysis, Mode.REGENERATE_CACHED) == 0
    for _ in range(3):
        answer = writing.ask(user, analysis, Mode.REGENERATE_CACHED)
        assert (answer.is_known, answer.job.id) == (True, document)
    assert scribe.phrased == ["test_buys", "test_sells"]
    holds(writing.world)


def test_deleting_the_document_does_not_have_them_requested_again(writing: Writing) -> None:
    world, user = writing.world, writing.world.user()
    scribe = Scribe(refused=REFUSED, summary="")  # nor the refused summary
    analysis = writing.analysed(user, SHOP)
    for mode in (Mode.INITIAL, Mode.REGENERATE_CACHED, Mode.INITIAL):
        document = writing.written(user, analysis, mode, scribe)
        assert fallen_back(writing, user, document) == ["test_sells"]
        delete(world.uow, document, writing.account(user), world.policy, now=NOW)
    assert (scribe.placed, scribe.phrased) == (["test_buys", "test_sells"], ["test_buys", "test_sells"])
    assert (scribe.summarised, writing.billed(user)) == (1, 1)


def test_what_fell_back_for_another_reason_is_requested_again(writing: Writing) -> None:
    user, scribe = writing.world.user(), Scribe(falls_back=REFUSED, summary=None)
    analysis = writing.analysed(user, SHOP)
    first = writing.written(user, analysis, scribe=scribe)
    second = writing.written(user, analysis, Mode.REGENERATE_CACHED, scribe)
    assert first != second
    assert (scribe.phrased.count("test_sells"), scribe.summarised) == (2, 2)
    third = writing.written(user, analysis, Mode.REGENERATE_CACHED)
    assert (fallen_back(writing, user, third), writing.billed(user)) == ([], 2)


def test_another_model_is_asked(writing: Writing) -> None:
    user = writing.world.user()
    analysis = writing.analysed(user, SHOP)
    writing.written(user, analysis, scribe=Scribe(refused=REFUSED))
    other = Writing(replace(writing.world, policy=replace(writing.world.policy, generator="another model")))
    document = other.written(user, analysis, Mode.REGENERATE_CACHED)
    assert (fallen_back(other, user, document), writing.billed(user)) == ([], 3)


def test_writing_all_anew_requests_them_once_and_replaces_them_when_they_come(writing: Writing) -> None:
    user = writing.world.user()
    analysis = writing.analysed(user, SHOP)
    writing.written(user, analysis, scribe=Scribe(refused=REFUSED))
    document = writing.written(user, analysis, Mode.REGENERATE_FRESH)
    assert (fallen_back(writing, user, document), writing.billed(user)) == ([], 3)
    answer = writing.ask(user, analysis, Mode.REGENERATE_CACHED)
    assert (answer.is_known, answer.job.id) == (True, document)
    other = writing.world.user()
    assert fallen_back(writing, other, writing.written(other, analysis)) == []  # nor to anybody else
    holds(writing.world)


def test_words_refused_while_all_are_written_anew_replace_no_paid_ones_and_are_requested_once(writing: Writing) -> None:
    ann, bob = writing.world.user(), writing.world.user()
    analysis = writing.analysed(ann, SHOP)
    first = writing.written(ann, analysis)
    scribe = Scribe(refused=frozenset({"test_buys", "test_sells"}), take=1)
    for _ in range(3):
        document = writing.written(bob, analysis, Mode.REGENERATE_FRESH, scribe)
        assert fallen_back(writing, bob, document) == ["test_buys", "test_sells"]
    assert sorted(scribe.phrased) == ["test_buys", "test_sells"]
    assert (writing.billed(bob), writing.ask(ann, analysis, Mode.REGENERATE_CACHED).job.id) == (0, first)


def test_they_are_pruned_as_other_words(writing: Writing) -> None:
    world, user = writing.world, writing.world.user()
    writing.written(user, writing.analysed(user, SHOP), scribe=Scribe(refused=REFUSED))
    world.rows("UPDATE spec_words SET used_at = :old RETURNING key", old=NOW - WORDS_LIVE - timedelta(days=1))
    assert prune(world.uow, now=NOW).words == 5


@pytest.mark.parametrize("behaviour", [answers.garbage, answers.obeying, CUT_OFF])
def test_a_model_that_is_never_right_is_asked_by_the_first_document_alone(writing: Writing, behaviour: object) -> None:
    user = writing.world.user()
    analysis = writing.analysed(user, SHOP)
    with ModelDouble.serving(behaviour) as double:
        first = regenerated(writing, user, analysis, Mode.INITIAL, generator(double))
        asked = len(double.calls)
        for _ in range(3):
            answer = writing.ask(user, analysis, Mode.REGENERATE_CACHED)
            assert (answer.is_known, answer.job.id) == (True, first)
        delete(writing.world.uow, first, writing.account(user), writing.world.policy, now=NOW)
        regenerated(writing, user, analysis, Mode.INITIAL, generator(double))
    assert 0 < asked == len(double.calls)


@pytest.mark.parametrize("behaviour", [answers.status(500), answers.status(400), answers.status(401)])
def test_a_model_that_answered_nothing_is_asked_again(writing: Writing, behaviour: object) -> None:
    user = writing.world.user()
    analysis = writing.analysed(user, SHOP)
    with ModelDouble.serving(behaviour) as double:
        regenerated(writing, user, analysis, Mode.INITIAL, generator(double))
    with ModelDouble.serving() as double:
        document = regenerated(writing, user, analysis, Mode.REGENERATE_CACHED, generator(double))
    assert (fallen_back(writing, user, document), writing.billed(user)) == ([], 2)


def regenerated(writing: Writing, user: UUID, analysis: UUID, mode: Mode, by: Generator) -> UUID:
    world, job_id = writing.world, writing.submit(user, analysis, mode)
    delivery = writing.started(user, job_id)
    specify(world.uow, delivery, user, by, world.policy, checkpoint=lambda *_: None, now=world.now)
    return job_id
