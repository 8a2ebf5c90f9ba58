"""Accept the items of a batch: all new jobs together, the others one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from app.domain.quota import Usage
from app.errors import Problem, QuotaExceeded, RepositoryNotFound
from app.services.analyses.accept import accept, known, needs_job, point_at
from app.services.analyses.enqueue import enqueue
from app.services.analyses.submission import ANALYSIS, AnalysisSubmission, Wanted, submission_of
from app.services.jobs import admit, visibility
from app.services.jobs.answers import Answer
from app.services.policy import Policy
from app.store.accounts.users import Payer
from app.store.analyses.accept_lookup import ExistingAnalyses, look, look_each
from app.store.core.unit_of_work import AlreadyQueuedError, OvertakenError, Tx
from app.store.repositories import codebases
from app.store.repositories.codebases import Codebase, address_of

#: By place in the request.
Outcomes = dict[int, Answer | Problem]


@dataclass(frozen=True, slots=True)
class Item:
    """One submission of a batch.  index: its place in the request."""

    index: int
    wanted: Wanted

    @property
    def key(self) -> str:
        """The unique key of its job."""
        return self.wanted.repository.unique_key(self.wanted.commit)


@dataclass(frozen=True, slots=True)
class _Sorted:
    """Items in the order of their keys.

    new: those that need a job, and the account's units before each; others: existing analyses of their commits, None
    if an earlier item of the batch has the same commit.
    """

    new: list[tuple[Item, ExistingAnalyses, Usage]]
    others: list[tuple[Item, ExistingAnalyses | None]]
    refused: Outcomes


def accept_each(tx: Tx, account: Payer, items: Sequence[Item], policy: Policy, *, now: datetime) -> Outcomes:
    """Decide each item, in the order of their keys, as if each were accepted by itself.

    The statements for new jobs, and for finding out which items are new, are as many for a hundred as for one; an item
    that joins a job or points at a result takes a few more.
    Locks: the caller has locked the users row; then the repositories, in the order of their addresses; the messages.
    Raises: OvertakenError if another transaction has published one of the commits meanwhile.
    """
    commits = [(item.wanted.repository, item.wanted.commit) for item in items]
    found = list(zip(items, look_each(tx, account.user_id, commits, policy.parser_version), strict=True))
    hidden = _hidden(tx, account, found)
    found = [(item, there) for item, there in found if item.index not in hidden]
    chosen = _sort(found, admit.used(tx, account, ANALYSIS, policy, now=now), account, policy, now=now)
    there_is = {item.index: there.codebase for item, there, _ in chosen.new}
    there_is |= {item.index: there.codebase for item, there in chosen.others if there}
    at = _repositories(tx, {item.index: item for item in items if item.index in there_is}, there_is, now=now)

    def submission(item: Item) -> AnalysisSubmission:
        return submission_of(account, at[item.index], item.wanted, policy, now=now)

    outcomes = hidden | chosen.refused
    if chosen.new:
        try:
            answers = enqueue(tx, [submission(item) for item, _, _ in chosen.new], [seen for *_, seen in chosen.new])
        except AlreadyQueuedError as other:
            raise OvertakenError from other
        outcomes |= {item.index: answer for (item, *_), answer in zip(chosen.new, answers, strict=True)}
    for item, there in chosen.others:
        try:
            with tx.savepoint():
                outcomes[item.index] = (
                    point_at(tx, submission(item), there) if there else _look_again(tx, account, item, policy, now=now)
                )
        except Problem as problem:
            outcomes[item.index] = problem
    return outcomes


def _hidden(tx: Tx, account: Payer, found: Sequence[tuple[Item, ExistingAnalyses]]) -> Outcomes:
    """The items that the account may not submit, because their repositories are private."""
    refused: Outcomes = {}
    for item, there in found:
        if there.codebase is None:
            continue
        wanted, answer = item.wanted, known(there, item.wanted)
        try:
            visibility.check_reachable(
                tx, there.codebase, answer, account, named=wanted.named, sees_all=wanted.sees_all
            )
        except RepositoryNotFound as problem:
            refused[item.index] = problem
    return refused


def _sort(
    found: Sequence[tuple[Item, ExistingAnalyses]],
    before: Usage,
    account: Payer,
    policy: Policy,
    *,
    now: datetime,
) -> _Sorted:
    """Give the free units to the items in their order.  before: the account's units before the batch."""
    chosen, keys, taken = _Sorted([], [], {}), set[str](), 0
    for item, there in found:
        seen = before if before.limit is None else replace(before, reserved=before.reserved + taken)
        if item.key in keys:
            chosen.others.append((item, None))
        elif not needs_job(there, item.wanted):
            chosen.others.append((item, there))
            # a payer who comes back pays again
            taken += there.left and (policy.quota_mode != "enforce" or seen.admits(1))
        else:
            try:
                admit.judge(seen, account, policy, units=1, now=now)
            except QuotaExceeded as refusal:
                chosen.refused[item.index] = refusal
            else:
                chosen.new.append((item, there, seen))
                taken += 1
        keys.add(item.key)
    return chosen


def _repositories(
    tx: Tx, items: dict[int, Item], known: dict[int, Codebase | None], *, now: datetime
) -> dict[int, Codebase]:
    """The repositories of the items, noted as asked for.  known: those that were there."""
    added = codebases.add_each(
        tx, (items[index].wanted.repository for index, codebase in known.items() if codebase is None), now=now
    )
    at = {index: codebase or added[address_of(items[index].wanted.repository)] for index, codebase in known.items()}
    branches = [items[index].wanted.default_branch for index in at]
    codebases.asked_for_each(tx, list(at.values()), branches, now=now)
    return at


def _look_again(tx: Tx, account: Payer, item: Item, policy: Policy, *, now: datetime) -> Answer:
    wanted = item.wanted
    found = look(tx, account.user_id, None, wanted.repository, wanted.commit, policy.parser_version, now=now)
    return accept(tx, account, found.existing, wanted, policy, now=now)
