"""Users, their subscription and the plan it gives them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text

from app.domain.fairness import step
from app.domain.periods import Period, period_at
from app.domain.plans import Plan, Tier
from app.domain.queues import Service
from app.domain.waiting import Runs
from app.store.accounts.plans import plan_of
from app.store.core.unit_of_work import LOCK_USERS, Tx


@dataclass(frozen=True, slots=True)
class Payer:
    """The account as an accept reads it: enough for a queue and a quota, and nothing that says what the user may do.

    anchor_at: where the rolling periods start; runs: by service, how long the user's recent jobs held a slot, empty
    before the first run, and of the service of the accept only; own_slot_limit: None if the tier's applies.
    """

    user_id: UUID
    kind: str
    email: str | None
    plan: Plan
    anchor_at: datetime
    runs: Mapping[Service, Runs]
    own_slot_limit: int | None

    @property
    def tier(self) -> Tier:
        """The tier of the plan."""
        return self.plan.tier

    @property
    def is_anonymous(self) -> bool:
        """Whether the account stands for a client address."""
        return self.kind == "anonymous"

    def step(self, service: Service) -> int:
        """How far a job moves the user back in the service's queues, in ranks (app/domain/fairness.py)."""
        runs = self.runs.get(service)
        return step(self.tier, runs.mean if runs else None)

    def period(self, now: datetime) -> Period:
        """The billing period that holds `now`."""
        return period_at(self.anchor_at, now)


@dataclass(frozen=True, slots=True)
class Account(Payer):
    """A whole user with the current plan, and the runs of both services.

    is_operator: of the account, or of the request where its token has fewer rights; is_read_only_operator: without
    effect for an operator, who may read as well.
    """

    is_operator: bool
    is_read_only_operator: bool


ACCOUNT = """
           u.id AS user_id, u.kind, u.email, u.is_operator, coalesce(s.anchor_at, u.created_at) AS anchor_at,
           u.run_seconds, u.run_deviation, u.spec_run_seconds, u.spec_run_deviation, u.slot_limit,
           u.is_read_only_operator,
           p.tier, p.concurrent_jobs, p.analyses_per_period, p.spec_units_per_period, p.retention_days"""
# Without an active subscription: the free plan, with periods from the creation of the account (docs/adr/0003).
WITH_PLAN = """
      FROM users u
      LEFT JOIN user_subscriptions s ON s.user_id = u.id AND s.status = 'active'
      JOIN subscription_plans p ON p.tier = coalesce(s.tier, 'free')"""
_BY_ID = text(f"SELECT {ACCOUNT} {WITH_PLAN} WHERE u.id = :user_id")
_EACH = text(f"SELECT {ACCOUNT} {WITH_PLAN} WHERE u.id = ANY(CAST(:user_ids AS uuid[]))")
_BY_EMAIL = text(f"SELECT {ACCOUNT} {WITH_PLAN} WHERE lower(u.email) = lower(:email)")
_LOCK = text("SELECT 1 FROM users WHERE id = :user_id FOR NO KEY UPDATE")
_LOCK_TO_DELETE = text("SELECT 1 FROM users WHERE id = :user_id FOR UPDATE")
_TRY = text("SELECT 1 FROM users WHERE id = :user_id FOR NO KEY UPDATE SKIP LOCKED")
_ADD = text("""
    INSERT INTO users (id, kind, email, is_operator, is_read_only_operator, created_at)
    VALUES (:user_id, :kind, :email, :is_operator, :is_read_only_operator, :now)
    ON CONFLICT DO NOTHING RETURNING id""")
_PEOPLE = text(f"""
    SELECT {ACCOUNT} {WITH_PLAN}
     WHERE u.kind = 'person' AND lower(u.email) > lower(:after) AND strpos(lower(u.email), lower(:part)) > 0
     ORDER BY lower(u.email) LIMIT :most""")
_SUBSCRIBE = text("""
    INSERT INTO user_subscriptions (user_id, tier, anchor_at)
    VALUES (:user_id, CAST(:tier AS plan_tier), :anchor_at)""")
_SET_TIER = text("""
    UPDATE user_subscriptions SET tier = CAST(:tier AS plan_tier)
     WHERE user_id = :user_id AND status = 'active' RETURNING id""")
_SET_SLOT_LIMIT = text("UPDATE users SET slot_limit = :slots WHERE id = :user_id")
_VERIFY = text("""
    UPDATE users SET email_verified_at = :now WHERE id = :user_id AND email_verified_at IS NULL RETURNING id""")
_VERIFIED_AT = text("SELECT email_verified_at FROM users WHERE id = :user_id")
_WITH_OWN_SLOT_LIMIT = text(f"""
    SELECT {ACCOUNT} {WITH_PLAN} WHERE u.slot_limit IS NOT NULL ORDER BY u.slot_limit DESC, u.id LIMIT :most""")
_OWN_SLOT_LIMITS = text("SELECT id, slot_limit FROM users WHERE slot_limit IS NOT NULL")
#: Of each tenant that the broker knows, in a column `name`.  Compared as a text, ids are found by reading all users.
USER_OF_TENANT = """
    CASE WHEN name ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN CAST(name AS uuid) END"""
_HELD = f"""
    SELECT {USER_OF_TENANT} AS id
      FROM (SELECT name FROM broker_group UNION SELECT tenant FROM broker_waiting WHERE reason = 'snooze') AS tenants"""
_WAITING = text(f"""
    SELECT u.id FROM users u LEFT JOIN user_subscriptions s ON s.user_id = u.id AND s.status = 'active'
     WHERE coalesce(s.tier, 'free') = CAST(:tier AS plan_tier) AND u.id IN ({_HELD})
     ORDER BY u.id""")
_ALL_WAITING = text(f"SELECT u.id FROM users u WHERE u.id IN ({_HELD}) ORDER BY u.id")
#: The columns of a service's moving mean and deviation.
_RUNS = {
    Service.ANALYSIS: ("run_seconds", "run_deviation"),
    Service.SPECVIEW: ("spec_run_seconds", "spec_run_deviation"),
}
_RAN = {
    service: text(f"UPDATE users SET {mean} = :mean, {deviation} = :deviation WHERE id = :user_id")
    for service, (mean, deviation) in _RUNS.items()
}


def find(tx: Tx, user_id: UUID) -> Account | None:
    """Read an account; None if there is no such user."""
    row = tx.run(_BY_ID, user_id=user_id).one_or_none()
    return account_of(row) if row else None


def find_each(tx: Tx, user_ids: Collection[UUID]) -> dict[UUID, Account]:
    """Read many accounts, by user."""
    return {row.user_id: account_of(row) for row in tx.run(_EACH, user_ids=[*map(str, user_ids)])}


def find_by_email(tx: Tx, email: str) -> Account | None:
    """Read an account by its e-mail address, ignoring case."""
    row = tx.run(_BY_EMAIL, email=email).one_or_none()
    return account_of(row) if row else None


def lock(tx: Tx, user_id: UUID) -> Account | None:
    """Lock and read an account: accepts and starts of one user wait for each other here.

    Locks: users row, the first in the lock order; rows that refer to it may still be inserted.  A second statement
    reads the plan, so that a tier change that committed while we waited is seen.
    """
    lock_row(tx, user_id)
    return find(tx, user_id)


def lock_row(tx: Tx, user_id: UUID) -> None:
    """Lock a user, for callers that do not need the account."""
    tx.write(_LOCK, user_id=user_id)


def lock_to_delete(tx: Tx, user_id: UUID) -> Account | None:
    """Lock and read an account that is to be deleted.

    Locks: users row, with its key: it waits for rows that refer to it and are being inserted, and lets no further one
    in.
    """
    tx.write(_LOCK_TO_DELETE, user_id=user_id)
    return find(tx, user_id)


def lock_rows(tx: Tx, user_ids: Iterable[UUID]) -> None:
    """Lock several users.  Locks: their rows, in the order of their ids."""
    tx.write(LOCK_USERS, user_ids=sorted(map(str, user_ids)))


def try_lock_row(tx: Tx, user_id: UUID) -> bool:
    """Lock a user without waiting, for callers that have locked another users row.  False: the row is locked."""
    return tx.run(_TRY, user_id=user_id).one_or_none() is not None


def people(tx: Tx, *, part: str = "", after: str = "", most: int) -> list[Account]:
    """People by their e-mail addresses.  part: of the address, ignoring case; after: the last address before."""
    return [account_of(row) for row in tx.run(_PEOPLE, part=part, after=after, most=most)]


def add(
    tx: Tx,
    user_id: UUID,
    *,
    kind: str = "person",
    email: str | None,
    is_operator: bool = False,
    is_read_only_operator: bool = False,
    now: datetime,
) -> bool:
    """Make a user; False when the id or the address is taken."""
    roles = {"is_operator": is_operator, "is_read_only_operator": is_read_only_operator}
    return tx.run(_ADD, user_id=user_id, kind=kind, email=email, now=now, **roles).one_or_none() is not None


def set_tier(tx: Tx, user_id: UUID, tier: Tier, *, now: datetime) -> None:
    """Change the user's tier; the anchor of an existing subscription stays."""
    if tx.run(_SET_TIER, user_id=user_id, tier=tier.value).one_or_none() is None:
        tx.run(_SUBSCRIBE, user_id=user_id, tier=tier.value, anchor_at=now)


def set_slot_limit(tx: Tx, user_id: UUID, slots: int | None) -> None:
    """Give the user a slot limit of their own, or the tier's again.  The caller has locked the users row."""
    tx.write(_SET_SLOT_LIMIT, user_id=user_id, slots=slots)


def verify_email(tx: Tx, user_id: UUID, *, now: datetime) -> bool:
    """Note that its owner uses the address; False if that was known.  The caller has locked the users row."""
    return tx.run(_VERIFY, user_id=user_id, now=now).one_or_none() is not None


def email_verified_at(tx: Tx, user_id: UUID) -> datetime | None:
    """When the address was verified first; None if it never was."""
    found: datetime | None = tx.run(_VERIFIED_AT, user_id=user_id).scalar_one_or_none()
    return found


def own_slot_limits(tx: Tx) -> dict[str, int]:
    """Slot limits by user id, of the users who have their own."""
    return {str(row.id): row.slot_limit for row in tx.run(_OWN_SLOT_LIMITS)}


def with_own_slot_limit(tx: Tx, *, most: int) -> list[Account]:
    """Users who have a slot limit of their own, those with the highest first."""
    return [account_of(row) for row in tx.run(_WITH_OWN_SLOT_LIMIT, most=most)]


def waiting_of(tx: Tx, tier: Tier) -> list[UUID]:
    """Users of a tier who have a job that waits for a slot."""
    return list(tx.run(_WAITING, tier=tier.value).scalars())


def all_waiting(tx: Tx) -> list[UUID]:
    """Users of any tier who have a job that waits for a slot."""
    return list(tx.run(_ALL_WAITING).scalars())


def ran(tx: Tx, account: Account, service: Service, seconds: float) -> Account:
    """Add a run to the user's moving mean.  Returns: the account with it.  The caller has locked the users row."""
    runs = Runs.following(account.runs.get(service), seconds)
    tx.write(_RAN[service], user_id=account.user_id, mean=runs.mean, deviation=runs.deviation)
    return replace(account, runs={**account.runs, service: runs})


def account_of(row: Row[Any]) -> Account:
    """Read an account from a row with all of ACCOUNT among others.  Raises: AttributeError if one is missing."""
    runs = {service: of for service in Service if (of := _runs_of(row, service))}
    return Account(*_shared(row), runs, row.slot_limit, row.is_operator, row.is_read_only_operator)


def payer_of(row: Row[Any], service: Service) -> Payer:
    """Read a payer from a row with its columns, and the runs of this service.  Raises: as account_of."""
    runs = _runs_of(row, service)
    return Payer(*_shared(row), {service: runs} if runs else {}, row.slot_limit)


def _shared(row: Row[Any]) -> tuple[UUID, str, str | None, Plan, datetime]:
    return row.user_id, row.kind, row.email, plan_of(row), row.anchor_at


def _runs_of(row: Row[Any], service: Service) -> Runs | None:
    mean, deviation = (getattr(row, column) for column in _RUNS[service])
    return None if mean is None else Runs(mean, deviation or 0)
