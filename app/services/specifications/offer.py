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
from app.store.accounts.users import Account
from app.store.core.unit_of_work import UnitOfWork
from app.store.specifications import spec_documents


@dataclass(frozen=True, slots=True)
class WrittenDocument:
    """An existing document."""

    id: UUID
    version: int
    completed_at: datetime


@dataclass(frozen=True, slots=True)
class Offer:
    """The specification that a user may get of an analysis in one language, and its price.

    newest: the last document in this language; under_way: the job that writes one; units: at most, by mode.

    tests: of the analysis, which may have subtests besides; units: None if they were not counted, without the modes in
    which the generator would write the same again; quota: of specifications, until `resets_at`.
    """

    language: str
    tests: int
    subtests: int
    newest: WrittenDocument | None
    under_way: UUID | None
    units: dict[Mode, int] | None
    quota: Usage
    resets_at: datetime

    def fits(self, mode: Mode) -> bool:
        """Whether enough units are free now; true if the price was not counted."""
        return self.units is None or self.quota.admits(self.units[mode])

    @property
    def writes_anew(self) -> bool:
        """Whether new sentences can be had."""
        return self.units is not None and Mode.REGENERATE_FRESH in self.units


def offer(uow: UnitOfWork, account: Account, analysis_id: UUID, language: str, policy: Policy) -> Offer:
    """Count the price for each mode; reserves nothing.  Raises: as submit_specification.dry_run."""
    tests = read_tests(uow, account, WantedSpecification(analysis_id, language), policy)
    found = glance(uow, account, analysis_id, language, tests=tests.total)
    modes = {mode.by(policy.generator) for mode in (Mode.REGENERATE_CACHED, Mode.REGENERATE_FRESH)}
    units = {mode: tests.units(uow, account.user_id, language, mode, policy) for mode in modes}
    units[Mode.INITIAL] = 0 if found.newest else units[Mode.REGENERATE_CACHED]
    return replace(found, subtests=tests.subtests, units=units)


def glance(uow: UnitOfWork, account: Account, analysis_id: UUID, language: str, *, tests: int) -> Offer:
    """The offer without counting, which takes time in proportion to the tests.  tests: of the analysis."""
    with uow.begin() as tx:
        row = spec_documents.newest(tx, account.user_id, analysis_id, language)
        newest = WrittenDocument(row.id, row.version, row.completed_at) if row else None
        under_way = spec_documents.running(tx, spec_documents.unique_key(account.user_id, analysis_id, language))
    sums = usage.usage(uow, account, now=uow.now())
    return Offer(language, tests, 0, newest, under_way, None, sums.units[SPECVIEW], sums.period.end)
