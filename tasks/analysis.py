"""The analysis task: it takes a Git commit and stores its tests in the database."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import structlog
from testlist import (
    Facts,
    FactsKey,
    GitLimits,
    Inventory,
    InventoryError,
    fetched,
    inventory,
    on_default_branch,
)

from app.adapters.git_sources import source_of
from app.domain.jobs import Checkpoint
from app.domain.queues import Service
from app.domain.repositories import Repository
from app.services.analyses.analyse import Taken, analyse
from app.services.analyses.judge import LOOK, Branch, LookAtBranch, look
from app.services.analyses.known_facts import KnownFacts
from tasks.base import FairTask
from tasks.celery import app
from tasks.earlier_inventories import earlier_of, last_of
from tasks.file_rows import file_rows
from tasks.maintenance import FORGOTTEN
from tasks.wiring import WorkerWiring, wired

log = structlog.get_logger(__name__)


class AnalysisTask(FairTask):
    """An analysis under its user's slot limit; its time limits are in celeryconfig."""

    abstract = True
    service = Service.ANALYSIS


@app.task(base=AnalysisTask, bind=True, name="tasks.analysis.analyse")
def analyse_commit(self: AnalysisTask, *, host: str, owner: str, name: str, commit: str, user_id: str | None) -> Any:
    """Analyse one commit of one repository."""
    kit = wired()
    return analyse(
        kit.uow,
        self.delivery,
        UUID(user_id) if user_id else None,
        lambda known, checkpoint: take(kit, Repository(host, owner, name), commit, known, checkpoint),
        kit.policy,
        checkpoint=self.heart.checkpoint,
        objects=kit.objects,
    )


@app.task(name=LOOK, **FORGOTTEN)
def look_at_branch(*, codebase_id: str, commit: str) -> None:
    """Find out what is on the default branch of a repository."""
    kit = wired()
    try:
        look(
            kit.uow,
            UUID(codebase_id),
            commit,
            lambda repository: look_of(kit, repository, commit, lambda *_: None),
            now=kit.uow.now(),
        )
    except InventoryError as error:  # the host is away, or refused: the next accept asks again
        log.info("not_looked_at", codebase_id=codebase_id, code=error.code)


def take(kit: WorkerWiring, repository: Repository, commit: str, known: KnownFacts, checkpoint: Checkpoint) -> Taken:
    """The engine, bound to our settings and our store of facts.  Raises: InventoryError."""
    limits = GitLimits(wall_seconds=kit.settings.git_timeout.total_seconds())
    source, workdir = source_of(repository, kit.settings), kit.settings.home / "work"
    with fetched(source, commit, workdir=workdir, limits=limits, checkpoint=checkpoint) as fetched_repository:
        earlier, digests = earlier_of(known.last)
        found = inventory(
            fetched_repository,
            cache=_Cache(known),
            checkpoint=checkpoint,
            checks=True,
            most_checked=kit.settings.max_checked_tests,
            earlier=earlier,
        )
        committed_at = fetched_repository.committed_at()
    _refuse_more(kit.settings.max_tests, found)
    files = file_rows(found, {path: digests[path] for path in found.unchanged})
    look = look_of(kit, repository, commit, lambda *_: checkpoint("saving", 0, 0))
    return Taken(files, found.summary(), committed_at, look, last_of(found))


def look_of(kit: WorkerWiring, repository: Repository, commit: str, checkpoint: Checkpoint) -> LookAtBranch:
    """Look for commits in the history of HEAD.  commit: for which more of it is read.  Raises: InventoryError."""
    limits = GitLimits(wall_seconds=kit.settings.git_timeout.total_seconds())
    source, workdir = source_of(repository, kit.settings), kit.settings.home / "work"

    def look(commits: Mapping[str, datetime | None]) -> Branch:
        found = on_default_branch(source, commit, commits, workdir=workdir, limits=limits, checkpoint=checkpoint)
        return Branch(found.name, found.commits)

    return look


def _refuse_more(most: int, found: Inventory) -> None:
    """Refuse a commit with too many tests, because a part of them would look like all.  Raises: InventoryError."""
    tests = sum(len(file.tests) for file in found.files)
    if tests > most:
        raise InventoryError(
            "too_many_tests", f"The repository has {tests:,} tests, subtests included; the limit is {most:,}."
        )


class _Cache:
    """The engine's FactsCache, on top of the service's store."""

    def __init__(self, known: KnownFacts) -> None:
        self._known = known

    def load(self, keys: Sequence[FactsKey]) -> dict[FactsKey, Facts]:
        return {FactsKey(blob_id, language): dict(facts) for blob_id, language, facts in self._known.load(keys)}

    def store(self, facts: Mapping[FactsKey, Facts]) -> None:
        self._known.store({(key.blob_id, key.language): found for key, found in facts.items()})
