"""Specifications by real workers: written, cancelled, killed in the middle, and by a model that fails (docs/adr/0047)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from durable_harness.waiting import wait_for
from service_harness.model_double import Behaviour, Call, ModelDouble, Raw, good, status

from app.adapters.generators import languages_of, name_of
from app.domain.plans import Tier
from app.domain.specification import Mode
from app.services.accounts import tokens
from app.services.jobs.cancel import cancel
from app.services.operations.audit import HOLDS, audit
from app.settings import load
from tests.e2e.conftest import System
from tests.e2e.webs import Web
from tests.race.invariants import broken
from tests.services.specifications.writing import Writing

QUEUES = ("analysis_default", "analysis_priority", "specview_default", "specview_priority")
MODEL = {
    "LLM_MODEL": "double",
    "LLM_PARALLEL": "3",
    "LLM_TIMEOUT": "10m",
    "LEASE_SECONDS": "60",
    "HEARTBEAT_SECONDS": "1",
}
#: As many tests as one call takes, and files of them.
CHUNK, FILES = 50, 8
LEFT = """
    SELECT 'reservation' AS what, job_id::text FROM quota_reservations
     UNION ALL SELECT 'slot', job_id::text FROM execution_slots UNION ALL SELECT 'message', task_id FROM kombu_message
     UNION ALL SELECT 'draft', f.document_id::text FROM spec_features f
                 JOIN spec_documents d ON d.id = f.document_id AND d.draft IS DISTINCT FROM f.draft"""
UNPAID = "SELECT count(*) FROM spec_words WHERE NOT is_paid"
NOUNS = ("cart", "order", "invoice", "refund", "basket", "voucher", "parcel", "stock")
VERBS = ("adds", "keeps", "sends", "shows", "counts", "prints", "stores", "checks", "sorts", "splits")
ADJECTIVES = ("large", "small", "empty", "old", "new")


def shop() -> dict[str, str]:
    """Files of CHUNK tests each, whose names differ in their words."""
    return {
        f"tests/test_{noun}.py": "\n\n".join(
            f"def test_{verb}_{adjective}_{noun}():\n    pass" for verb in VERBS for adjective in ADJECTIVES
        )
        for noun in NOUNS
    }


def analysed(system: System, user: UUID, files: dict[str, str]) -> UUID:
    job_id = system.submit(user, "shop", files)
    assert system.wait(job_id, "completed", "failed")["status"] == "completed"
    return job_id


def holds(system: System) -> None:
    assert system.world.rows(LEFT) == []
    assert [finding for finding in audit(system.world.uow) if finding.status != HOLDS] == []
    assert broken(system.world) == []


def asked_of(double: ModelDouble) -> Counter[str]:
    """How often the model was asked for a sentence for each test."""
    return Counter(one["name"] for call in double.of("convert") for one in call.asked["tests"])


class Stalling:
    """Answers so many calls for sentences, and is silent on all others until `go_on`."""

    def __init__(self, answers: int) -> None:
        self.left, self.answered, self.is_stalling = answers, list[Call](), True

    def __call__(self, call: Call) -> Raw | dict[str, Any]:
        if call.phase == "convert" and self.is_stalling:
            if self.left == 0:
                return Raw(hang=True)
            self.left -= 1
        self.answered.append(call)
        return good(call)

    def go_on(self) -> None:
        self.is_stalling = False


#: The address of a model -> the world under the policy of a node that asks it, and the settings of that node.
WithModel = Callable[[str], tuple[Writing, dict[str, str]]]


@pytest.fixture
def with_model(system: System) -> WithModel:
    def make(url: str) -> tuple[Writing, dict[str, str]]:
        settings = {"LLM_BASE_URL": url, **MODEL}
        loaded = load(settings)
        policy = replace(system.world.policy, generator=name_of(loaded), languages=languages_of(loaded))
        return Writing(replace(system.world, policy=policy)), settings

    return make


def test_a_specification_by_the_built_in_generator_is_asked_for_read_and_paid_over_rest(
    system: System, tmp_path: Path
) -> None:
    user = system.user()
    made = tokens.add_token(system.world.uow, user, scopes=("read", "write"), name="ci", now=datetime.now(UTC))
    web = Web(system.nodes, tmp_path, made.secret)
    system.nodes.worker(*QUEUES)
    tests = "def test_adds_an_item():\n    pass\n\n\ndef test_refuses_a_negative_price():\n    pass\n"
    analysis = analysed(system, user, {"tests/test_cart.py": tests})
    wanted = {"analysis_id": str(analysis), "language": "en"}
    promised = web.ask("/api/v1/specs", wanted | {"dry_run": True})["units"]
    job_id = web.ask("/api/v1/specs", wanted)["id"]
    system.wait(UUID(job_id), "completed", "failed")
    job = web.ask(f"/api/v1/specs/{job_id}")
    assert (job["status"], job["version"], job["units"], promised) == ("completed", 1, 2, 2)
    [behaviours] = [feature["behaviours"] for domain in job["document"]["domains"] for feature in domain["features"]]
    assert [one["sentence"] for one in behaviours] == ["Adds an item.", "Refuses a negative price."]
    assert web.ask("/api/v1/usage")["specview"]["used"] == 2
    assert web.ask("/api/v1/specs", wanted)["id"] == job_id
    holds(system)


@pytest.mark.proof
def test_a_worker_killed_in_the_middle_asks_for_nothing_twice_and_is_paid_once(
    system: System, with_model: WithModel
) -> None:
    user, model = system.user(Tier.PRO), Stalling(FILES // 2)
    with ModelDouble.serving(model) as double:
        writing, settings = with_model(double.url)
        worker = system.nodes.worker(*QUEUES, **settings)
        analysis = analysed(system, user, shop())
        promised = writing.cost(user, analysis)
        job_id = writing.submit(user, analysis)
        # what was answered is kept, and calls are under way that nobody answers
        wait_for(lambda: system.world.value(UNPAID) == CHUNK * (FILES // 2), "half of the sentences")
        wait_for(lambda: double.under_way > 0, "a call under way")
        worker.container.kill()
        finished = Counter(call.fingerprint for call in model.answered)
        model.go_on()
        worker.container.restart()
        job = system.wait(job_id, "completed", "failed")
        assert (job["status"], job["attempt"], job["units"]) == ("completed", 2, promised)
        assert promised == writing.billed(user) == CHUNK * FILES
        # the double has one call of each finished one, and one of each test that was in it
        assert {call: double.fingerprints[call] for call in finished} == dict.fromkeys(finished, 1)
        repeated = {test for test, times in asked_of(double).items() if times > 1}
        in_finished = {one["name"] for call in model.answered[: len(finished)] for one in call.asked.get("tests", ())}
        assert len(in_finished) == CHUNK * FILES // 2
        assert repeated.isdisjoint(in_finished)
        assert len(asked_of(double)) == CHUNK * FILES
    assert job["summary"]["fell_back"] == 0
    holds(system)


@pytest.mark.proof
def test_a_run_that_is_cancelled_while_the_model_is_silent_ends_and_the_next_one_pays_for_what_it_left(
    system: System, with_model: WithModel
) -> None:
    user, model = system.user(Tier.PRO), Stalling(2)
    with ModelDouble.serving(model) as double:
        writing, settings = with_model(double.url)
        system.nodes.worker(*QUEUES, **settings)
        analysis = analysed(system, user, shop())
        job_id = writing.submit(user, analysis)
        wait_for(lambda: system.world.value(UNPAID) == 2 * CHUNK, "some sentences")
        wait_for(lambda: double.under_way > 0, "a call under way")
        cancel(system.world.uow, job_id, writing.account(user), writing.world.policy, now=datetime.now(UTC))
        # the model would be silent for longer than we wait here: nobody waits for it
        assert system.wait(job_id, "cancelled", "failed", "completed")["status"] == "cancelled"
        wait_for(lambda: double.under_way == 0, "the calls to be given up")
        assert (double.left.is_set(), writing.billed(user), system.world.rows(LEFT)) == (True, 0, [])
        model.go_on()
        before = asked_of(double)
        assert writing.cost(user, analysis) == CHUNK * FILES
        again = system.wait(writing.submit(user, analysis), "completed", "failed")
        assert (again["status"], again["units"], writing.billed(user)) == ("completed", CHUNK * FILES, CHUNK * FILES)
        kept = {one["name"] for call in model.answered[:3] for one in call.asked.get("tests", ())}
        assert len(kept) == 2 * CHUNK
        assert all((asked_of(double) - before)[test] == 0 for test in kept)
        assert writing.cost(user, analysis, Mode.REGENERATE_CACHED) == 0
    holds(system)


@pytest.mark.parametrize("behaviour", [status(401), status(404)], ids=["a key that is not valid", "no model there"])
@pytest.mark.proof
def test_a_model_that_is_of_no_use_from_the_beginning_costs_nothing_and_the_document_is_there(
    system: System, with_model: WithModel, behaviour: Behaviour
) -> None:
    user = system.user()
    with ModelDouble.serving(behaviour) as double:
        writing, settings = with_model(double.url)
        system.nodes.worker(*QUEUES, **settings)
        analysis = analysed(system, user, {"tests/test_cart.py": "def test_adds_an_item():\n    pass\n"})
        job_id = writing.submit(user, analysis)
        job = system.wait(job_id, "completed", "failed")
        assert (job["status"], job["units"], job["billed"]) == ("completed", 0, False)
        assert (job["summary"]["behaviours"], job["summary"]["fell_back"]) == (1, 1)
        assert len(double.calls) == 1  # nobody goes on asking
        # nothing of it is kept: the model is asked when it is there again
        double.behaviour = good
        assert writing.cost(user, analysis, Mode.REGENERATE_CACHED) == 1
        second = system.wait(writing.submit(user, analysis, Mode.REGENERATE_CACHED), "completed", "failed")
        assert (second["units"], second["summary"]["fell_back"], second["version"]) == (1, 0, 2)
        assert writing.billed(user) == 1
    holds(system)
