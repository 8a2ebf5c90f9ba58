"""Find the repository and the commit that the text of a submission means."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Concatenate, ParamSpec, TypeVar

from app.domain.repositories import SubmittedAddress, check_commit, check_ref, parse_address
from app.errors import InvalidInput, Problem
from app.services.analyses.submission import Wanted
from app.store.accounts.users import Account
from app.web.analyses.commit_lookups import OF_CLIENT, Lookups, lookups
from app.web.core import residence
from app.web.core.context import wired
from app.web.core.read_only import refuse_changes
from app.web.core.schemas import SubmitAnalysis
from app.web.core.wiring import WebWiring

T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class _Asked:
    """A parsed submission: the repository, and the commit if it was given."""

    address: SubmittedAddress
    ref: str | None
    commit: str | None
    retry: bool

    @property
    def asks_host(self) -> bool:
        """Whether the host has to name the commit, or whether a local repository has to contain it."""
        return self.address.repository.is_local or self.commit is None

    def wanted(self, commit: str, ref: str | None, *, sees_all: bool, looked_at: datetime | None = None) -> Wanted:
        """Resolve a submission to a commit.

        ref: the branch of HEAD, if neither was given; sees_all: as of Wanted; looked_at: before the host was asked.
        """
        named = self.commit is None
        head = ref if named and self.ref is None else None
        return Wanted(
            self.address.repository, commit, ref, self.retry, default_branch=head, named=named, looked_at=looked_at,
            sees_all=sees_all,
        )  # fmt: skip


def wanted(body: SubmitAnalysis, account: Account) -> Wanted:
    """Parse the address and ask its host for the commit.

    The quota decides later, when it is known whether there is a result of the commit, which costs nothing.
    Raises: InvalidInput, TooManyRequests, Busy, RepositoryNotFound, CommitNotFound, GitHostUnreachable, ReadOnly.
    """
    with residence.waiting_for_others():
        found = _Resolver.of(account).resolve(_read(body))
    refuse_changes()  # they may have been switched off while the host was asked
    return found


def asks_host(body: SubmitAnalysis) -> bool:
    """Whether `wanted` has to ask the repository's host, which takes time and may fail.  Raises: InvalidInput."""
    return _read(body).asks_host


def wanted_each(body: Sequence[SubmitAnalysis], account: Account) -> list[Wanted | Problem]:
    """Resolve many submissions within the time of one; an item that fails has its Problem instead.

    Raises: TooManyRequests, Busy while other batches ask their hosts, ReadOnly.
    """
    items = [_caught(_read, one) for one in body]
    resolver = _Resolver.of(account)
    if not any(isinstance(item, _Asked) and item.asks_host for item in items):
        return [_caught(resolver.resolve, item) for item in items]
    until = time.monotonic() + resolver.lookups.seconds
    with (
        residence.waiting_for_others(),
        resolver.lookups.batches.place(resolver.client),
        ThreadPoolExecutor(OF_CLIENT, "batch") as threads,
    ):
        found = list(threads.map(lambda item: _caught(resolver.resolve, item, until), items))
    refuse_changes()
    return found


@dataclass(frozen=True, slots=True)
class _Resolver:
    """The means to resolve the submissions of one request.

    client: whose look-ups they are; sees_all: by the rights of the request, not by those of the account.
    """

    services: WebWiring
    lookups: Lookups
    client: str
    sees_all: bool

    @classmethod
    def of(cls, account: Account) -> _Resolver:
        """Make them for a request.  account: with the rights of the request."""
        return cls(wired(), lookups(), str(account.user_id), account.is_operator)

    def resolve(self, item: _Asked, until: float | None = None) -> Wanted:
        """Find the commit of an item.  until: monotonic deadline of its batch.  Raises: as `wanted`."""
        where = item.address.repository
        if not item.asks_host:
            return item.wanted(*self.services.resolve(where, item.ref, item.commit), sees_all=self.sees_all)
        looked_at = self.services.uow.now()  # by the time it is accepted, the branch may have moved and been judged
        commit, ref = self.lookups.find(self.client, where, item.ref, item.commit, until=until)
        return item.wanted(commit, ref, sees_all=self.sees_all, looked_at=looked_at)


def _caught(use: Callable[Concatenate[T, P], R], given: T | Problem, *more: P.args, **named: P.kwargs) -> R | Problem:
    if isinstance(given, Problem):
        return given
    try:
        return use(given, *more, **named)
    except Problem as problem:
        return problem


def _read(body: SubmitAnalysis) -> _Asked:
    settings = wired().settings
    address = parse_address(body.repository, settings.allowed_git_hosts)
    if address.repository.is_local and settings.local_repos_root is None:
        detail = "local repositories need the setting LOCAL_REPOS_ROOT"
        raise InvalidInput(
            "This service has no local repositories.", errors=[{"pointer": "/repository", "detail": detail}]
        )
    ref, commit = _revision(body, address)
    return _Asked(address, ref, commit, body.retry)


def _revision(body: SubmitAnalysis, address: SubmittedAddress) -> tuple[str | None, str | None]:
    """Members of the request take precedence over a ref or commit in the address."""
    if body.ref is not None or body.commit is not None:
        return (
            None if body.ref is None else check_ref(body.ref),
            None if body.commit is None else check_commit(body.commit, may_be_short=address.repository.is_local),
        )
    return address.ref, address.commit
