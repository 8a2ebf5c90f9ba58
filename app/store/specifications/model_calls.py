"""Calls of language models: each day's tokens and cost, and the circuit of each endpoint, of all processes together."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import NamedTuple, cast
from uuid import UUID

from sqlalchemy import text

from app.domain.model_calls import LONGEST_HOLD, Cap, Circuit, Limits, Tokens
from app.store.core.unit_of_work import Tx

# This is an update and not a SELECT FOR UPDATE, because the values in RETURNING are from after the wait for the row.
_LOCK = text("""
    INSERT INTO model_circuits AS c (endpoint) VALUES (:endpoint)
    ON CONFLICT (endpoint) DO UPDATE SET asked_at = clock_timestamp()
    RETURNING c.failures, c.opened_at, c.probing_until, c.held_until, c.asked_at""")
_PROBE = text("""
    UPDATE model_circuits SET probe = :probe, probing_until = clock_timestamp() + :patience
     WHERE endpoint = :endpoint""")
_CLOSE = text("""
    UPDATE model_circuits SET failures = 0, opened_at = NULL, probe = NULL, probing_until = NULL
     WHERE endpoint = :endpoint AND (opened_at IS NULL AND failures > 0 OR probe = :probe)""")
# A call that began before the circuit opened says nothing new if it fails, and nothing certain if it succeeds.
_FAIL = text("""
    UPDATE model_circuits
       SET failures = failures + 1,
           opened_at = CASE WHEN probe = :probe OR failures + 1 >= :failures THEN clock_timestamp() END,
           probe = NULL, probing_until = NULL
     WHERE endpoint = :endpoint AND (opened_at IS NULL OR probe = :probe)""")
# A hold of before the clock went back is not kept.
_HOLD_BACK = text("""
    UPDATE model_circuits
       SET held_until = greatest(CASE WHEN held_until <= clock_timestamp() + :longest THEN held_until END,
                                 clock_timestamp() + make_interval(secs => :seconds))
     WHERE endpoint = :endpoint""")
_LEAVE = text("""
    UPDATE model_circuits SET probe = NULL, probing_until = NULL WHERE endpoint = :endpoint AND probe = :probe""")
#: The UTC day, as SQL.
TODAY = "(clock_timestamp() AT TIME ZONE 'UTC')::date"
# The first call of a day creates its row; that call may be too large by itself.
_COUNT = text(f"""
    INSERT INTO model_days AS d (day, calls, input_tokens, output_tokens, cost)
    SELECT {TODAY}, 1, :input, :output, :cost
     WHERE coalesce(:input + :output <= CAST(:most_tokens AS bigint), true)
       AND coalesce(:cost <= CAST(:most_cost AS numeric), true)
    ON CONFLICT (day) DO UPDATE
       SET calls = d.calls + 1, input_tokens = d.input_tokens + excluded.input_tokens,
           output_tokens = d.output_tokens + excluded.output_tokens, cost = d.cost + excluded.cost
     WHERE coalesce(d.input_tokens + d.output_tokens + :input + :output <= CAST(:most_tokens AS bigint), true)
       AND coalesce(d.cost + :cost <= CAST(:most_cost AS numeric), true)
    RETURNING d.day""")
_SETTLE = text("""
    UPDATE model_days SET input_tokens = greatest(0, input_tokens + :input), cost = greatest(0, cost + :cost),
           output_tokens = greatest(0, output_tokens + :output) WHERE day = :day""")
_SPENT = text(f"SELECT input_tokens, output_tokens, cost FROM model_days WHERE day = {TODAY}")
_USE = text(f"""
    SELECT coalesce(max(calls), 0) AS calls, coalesce(max(input_tokens + output_tokens), 0) AS tokens,
           coalesce(max(cost), 0) AS cost,
           (SELECT count(*) FROM model_circuits WHERE opened_at IS NOT NULL) AS open_circuits
      FROM model_days WHERE day = {TODAY}""")


class UseRow(NamedTuple):
    """The use of models today, calls under way with their estimates; and how many endpoints are not called."""

    calls: int
    tokens: int
    cost: Decimal
    open_circuits: int


def lock(tx: Tx, endpoint: str) -> tuple[Circuit, datetime]:
    """The circuit of an endpoint and the database's time.  Locks: its row, before the row of a day."""
    row = tx.run(_LOCK, endpoint=endpoint).one()
    return Circuit(row.failures, row.opened_at, row.probing_until, row.held_until), row.asked_at


def probe(tx: Tx, endpoint: str, token: UUID, limits: Limits) -> None:
    """Become the probe, for as long as its answer may take.  The caller has locked the circuit."""
    tx.write(_PROBE, endpoint=endpoint, probe=token, patience=limits.probe)


def succeeded(tx: Tx, endpoint: str, token: UUID | None) -> None:
    """Reset the failures; an open circuit is closed by its probe only.  Locks: the circuit, if something changes."""
    tx.write(_CLOSE, endpoint=endpoint, probe=token)


def failed(tx: Tx, endpoint: str, token: UUID | None, limits: Limits) -> None:
    """Count a failure; the last allowed one in a row, or the probe's, opens the circuit.  Locks: the circuit."""
    tx.write(_FAIL, endpoint=endpoint, probe=token, failures=limits.failures)


def hold_back(tx: Tx, endpoint: str, seconds: float) -> None:
    """Hold all processes' calls back until this time has passed.  Locks: the circuit."""
    tx.write(_HOLD_BACK, endpoint=endpoint, seconds=seconds, longest=LONGEST_HOLD)


def leave(tx: Tx, endpoint: str, token: UUID) -> None:
    """Stop being the probe, without a result.  Locks: the circuit."""
    tx.write(_LEAVE, endpoint=endpoint, probe=token)


def count(tx: Tx, estimate: Tokens, limits: Limits) -> date | Cap:
    """Count a call with its estimate.

    Returns: the day that counts it, or the cap it would exceed, and then nothing is counted.

    Locks: the row of the day.
    """
    most = {"most_tokens": limits.tokens_per_day, "most_cost": limits.cost_per_day}
    cost = limits.cost(estimate)
    row = tx.run(_COUNT, input=estimate.input, output=estimate.output, cost=cost, **most).first()
    if row is not None:
        return cast("date", row.day)
    tokens, _ = spent(tx)
    over = limits.tokens_per_day is not None and tokens.total + estimate.total > limits.tokens_per_day
    return Cap.TOKENS_PER_DAY if over else Cap.COST_PER_DAY


def settle(tx: Tx, day: date, difference: Tokens, limits: Limits) -> None:
    """Correct a call's estimate.  difference: what it used minus the estimate.  Locks: the day's row."""
    cost = limits.cost(difference)
    tx.write(_SETTLE, day=day, input=difference.input, output=difference.output, cost=cost)


def spent(tx: Tx) -> tuple[Tokens, Decimal]:
    """Tokens and cost of today, calls under way with their estimates."""
    row = tx.run(_SPENT).first()
    return (Tokens(row.input_tokens, row.output_tokens), row.cost) if row is not None else (Tokens(), Decimal(0))


def use(tx: Tx) -> UseRow:
    """Today's use of all endpoints."""
    return tx.run(_USE).value(UseRow)
