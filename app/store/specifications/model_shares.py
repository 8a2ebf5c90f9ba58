"""What each account has used of the day of the language models (docs/adr/0069)."""

from __future__ import annotations

from datetime import date
from math import ceil
from uuid import UUID

from sqlalchemy import text

from app.domain.model_calls import Limits, Tokens
from app.store.core.unit_of_work import Tx
from app.store.specifications.model_calls import TODAY

# By the index of addresses, which visitors do not have.
_PEOPLE = text("SELECT count(*) FROM (SELECT FROM users WHERE lower(email) > '' LIMIT :most) AS people")
# A call that read the date before midnight, and waited for the row, may find the next day there.
# An account that is being deleted is waited for here, while this transaction has locked nothing that others need.
_COUNT = text(f"""
    INSERT INTO model_shares AS s (user_id, day, tokens, cost)
    SELECT u.id, {TODAY}, :tokens, :cost FROM users u
     WHERE u.id = :user_id
       AND coalesce(:tokens <= CAST(:most_tokens AS bigint), true)
       AND coalesce(:cost <= CAST(:most_cost AS numeric), true)
       FOR KEY SHARE OF u
    ON CONFLICT (user_id) DO UPDATE
       SET day = greatest(s.day, excluded.day),
           tokens = excluded.tokens + CASE WHEN s.day < excluded.day THEN 0 ELSE s.tokens END,
           cost = excluded.cost + CASE WHEN s.day < excluded.day THEN 0 ELSE s.cost END
     WHERE s.day < excluded.day
        OR coalesce(s.tokens + excluded.tokens <= CAST(:most_tokens AS bigint), true)
       AND coalesce(s.cost + excluded.cost <= CAST(:most_cost AS numeric), true)""")
_SETTLE = text("""
    UPDATE model_shares SET tokens = greatest(0, tokens + :tokens), cost = greatest(0, cost + :cost)
     WHERE user_id = :user_id AND day = :day""")


def count(tx: Tx, user_id: UUID, estimate: Tokens, limits: Limits) -> bool:
    """Count a call of an account with its estimate; False if it would exceed the account's share of the day.

    Locks: the users row against deletion, then the account's share, before the circuit and the day, so that no account
    keeps others waiting.
    """
    own = limits.of_account(tx.run(_PEOPLE, most=ceil(1 / limits.share)).scalar_one() or 1)
    most = {"most_tokens": own.tokens_per_day, "most_cost": own.cost_per_day}
    return tx.run(_COUNT, user_id=user_id, tokens=estimate.total, cost=limits.cost(estimate), **most).rowcount > 0


def settle(tx: Tx, user_id: UUID, day: date, difference: Tokens, limits: Limits) -> None:
    """Correct a call's estimate, as model_calls.settle does.  Locks: the account's share, before the circuit."""
    tx.write(_SETTLE, user_id=user_id, day=day, tokens=difference.total, cost=limits.cost(difference))
