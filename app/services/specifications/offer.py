"""The specification that a user may get of an analysis in one language, and its price, before it is requested."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from app.domain.quota import Usage
from app.domain.specification import Mode
from app.services.accounts import usage
from app.services.policy import Policy
from app.services.specifications.submit_specification import SPECVIEW, WantedSpecification, read_tests
from app.store import spec_documents
from app.store.unit_of_work import UnitOfWork
from app.store.users import Account


@dataclass(frozen=True, slots=True)
class Written:
    """An existing document."""

    id: UUID
    version: int
    completed_at: datetime


@dataclass(frozen=True, slots=True)
class Offer:
    """newest: the last document in this language; under_way: the job that writes one; units: by mode, at most.

    units: None if they were not counted; quota: of specifications, until `resets_at`.
    """

    language: str
    tests: int
    newest: Written | None
    under_way: UUID | None
    units: dict[Mode, int] | None
    quota: Usage
    resets_at: datetime

    def fits(self, mode: Mode) -> bool:
        """Whether enough units are free now; true if the price was not counted."""
        return self.units is None or self.quota.admits(self.units[mode])


def offer(uow: UnitOfWork, account: Account, analysis_id: UUID, language: str, policy: Policy) -> Offer:
    """Count the price for each mode; reserves nothing.  Raises: as submit_specification.dry_run."""
    tests = read_tests(uow, account, WantedSpecification(analysis_id, language), policy)
    found = glance(uow, account, analysis_id, language, tests=tests.total)
    kept, anew = (
        tests.units(uow, account.user_id, language, mode, policy)
        for mode in (Mode.REGENERATE_CACHED, Mode.REGENERATE_FRESH)
    )
    units = {Mode.INITIAL: 0 if found.newest else kept, Mode.REGENERATE_CACHED: kept, Mode.REGENERATE_FRESH: anew}
    return replace(found, units=units)


def glance(uow: UnitOfWork, account: Account, analysis_id: UUID, language: str, *, tests: int) -> Offer:
    """The offer without counting, which takes time in proportion to the tests.  tests: of the analysis."""
    with uow.begin() as tx:
        newest_id = spec_documents.newest(tx, account.user_id, analysis_id, language)
        row = newest_id and spec_documents.document(tx, newest_id)
        newest = Written(row.id, row.version, row.completed_at) if row else None
        under_way = spec_documents.running(tx, spec_documents.unique_key(account.user_id, analysis_id, language))
    sums = usage.usage(uow, account, now=uow.now())
    return Offer(language, tests, newest, under_way, None, sums.units[SPECVIEW], sums.period.end)
