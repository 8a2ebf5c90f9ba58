"""The one module of the web that knows Celery: it publishes by task name and never loads a task's code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from celery import Celery
from testlist.version import PARSER_VERSION

from app.adapters.generators import languages_of, name_of
from app.adapters.git_sources import branches, resolve_commit
from app.adapters.publishing import publisher
from app.database import database_url
from app.domain.repositories import Repository
from app.equal_settings import digests
from app.home import sealing_phrases, secret_key
from app.replicas import open_replica
from app.services.accounts.elsewhere import NOWHERE, Elsewhere
from app.services.policy import Policy
from app.services.webhooks.sealing import Keyring
from app.services.webhooks.webhooks import Where
from app.settings import Settings, load
from app.store.core import host_settings
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import RefuseMoving, Register, UnitOfWork, Unregister

#: (repository, ref, commit) -> (commit, name of the ref).  Raises as git_sources.resolve_commit.
Resolve = Callable[[Repository, str | None, str | None], tuple[str, str | None]]

#: The branches of a local repository.  Raises as git_sources.branches.
Branches = Callable[[Repository], list[str]]

#: Connections per process: 32 threads share them, and the pool's time-out turns a flood into 503.  All are kept,
#: because opening one takes as long as several accepts.
POOL_SIZE = 20


def no_branches(_: Repository) -> list[str]:
    """List no branches, where no repositories can be read."""
    return []


@dataclass(frozen=True)
class WebWiring:
    """The objects that views need.  secret: signs sessions."""

    settings: Settings
    uow: UnitOfWork
    policy: Policy
    resolve: Resolve
    secret: str = field(repr=False)
    branches: Branches = no_branches
    elsewhere: Elsewhere = NOWHERE

    def among_cells(
        self, register: Register, unregister: Unregister, refuse_moving: RefuseMoving, elsewhere: Elsewhere
    ) -> WebWiring:
        """Wire the same for a cell, with a directory that accounts are noted in and found by."""
        uow = replace(self.uow, register=register, unregister=unregister, refuse_moving=refuse_moving)
        return replace(self, uow=uow, elsewhere=elsewhere)

    @property
    def keyring(self) -> Keyring:
        """The keys that encrypt the secrets of webhooks."""
        return Keyring.of(sealing_phrases(self.settings, self.secret))

    @property
    def visitors_key(self) -> str:
        """The key that hashes visitors' addresses: the oldest key, so that they keep their ids while it is set."""
        return [self.secret, *self.settings.earlier_secret_keys][-1]

    @property
    def webhook_addresses(self) -> Where:
        """Which addresses webhooks may have."""
        return Where.of(self.settings)


def wire(settings: Settings | None = None) -> WebWiring:
    """Wire the web from the environment.  Opens no connection yet."""
    settings = settings or load()
    engine = make_engine(
        database_url(settings),
        pool_size=POOL_SIZE,
        overflow=0,
        application_name="fairlane web",
        statement_seconds=settings.statement_timeout.total_seconds(),
        has_to_answer=settings.cell is not None,  # the accounts of the other cells wait for the thread
    )
    host_settings.note(engine, partial(digests, settings))
    replica = open_replica(settings, application_name="fairlane web reads", pool_size=POOL_SIZE)
    celery = Celery("fairlane web", config_source="celeryconfig", set_as_current=False)

    def resolve(repository: Repository, ref: str | None, commit: str | None) -> tuple[str, str | None]:
        return resolve_commit(repository, ref, commit, settings)

    return WebWiring(
        settings,
        UnitOfWork(engine, publisher(celery), replica=replica),
        Policy.of(settings, PARSER_VERSION, name_of(settings), languages_of(settings)),
        resolve,
        secret_key(settings),
        partial(branches, settings=settings),
    )
