"""The requests of an account in its new cell, in their old order, which histories are read in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from uuid import UUID

from sqlalchemy import text

from app.store.cells.rows import JsonRows, Shapes, array, put
from app.store.core.unit_of_work import OvertakenError, Tx

_PLACES = text("""
    SELECT nextval(pg_get_serial_sequence('analysis_requests', 'id')) FROM generate_series(1, :number)""")
# An accept record of before, as of another account's move; another payer's stays.
_DROP = text("""
    DELETE FROM analysis_requests a
     USING json_populate_recordset(CAST(NULL AS analysis_requests), CAST(:rows AS json)) AS r
     WHERE a.job_id = r.job_id AND a.role = 'payer' AND a.user_id IS NULL AND r.role = 'payer'
       AND CAST(:places AS jsonb) ? CAST(r.id AS text)""")
_SAME_JOB = "ON CONFLICT (job_id) WHERE role = 'payer' DO NOTHING"
#: The id of a row `r` here.
_PLACE = """coalesce(CAST(CAST(:places AS jsonb) ->> CAST(r.id AS text) AS bigint),
                     nextval(pg_get_serial_sequence('analysis_requests', 'id')))"""
# Long enough for a move, whatever was left of the retention; what no account follows is pruned like all that expires.
_UNTIL_IT_COMES = "CAST(ceil(extract(epoch FROM now() - r.requested_at) / 86400) AS integer) + 2"
_GIVE = text("""
    UPDATE analysis_requests a SET user_id = :user_id, retention_days = g.days
      FROM unnest(CAST(:ids AS bigint[]), CAST(:days AS integer[])) AS g(id, days)
     WHERE a.id = g.id AND a.role = 'payer' AND a.user_id IS NULL""")


def new_places(tx: Tx, requests: Iterable[int]) -> dict[int, int]:
    """Ids for requests, in their order, whether they come now or later.  requests: ascending."""
    old = list(requests)
    return dict(zip(old, tx.run(_PLACES, number=len(old)).scalars(), strict=True))


def put_accepts(tx: Tx, shape: Shapes, taken: JsonRows, codebases: str, places: Mapping[int, int]) -> None:
    """Insert accept records without their users, for some days; an account's own at their places."""
    _put(tx, shape, taken, codebases, places, _SAME_JOB, user_id="NULL", retention_days=_UNTIL_IT_COMES)


def put_requests(tx: Tx, shape: Shapes, taken: JsonRows, codebases: str, places: Mapping[int, int]) -> None:
    """Insert requests of an account at their places; an accept record that is there is replaced."""
    _put(tx, shape, taken, codebases, places)


def _put(
    tx: Tx, shape: Shapes, taken: JsonRows, codebases: str, places: Mapping[int, int], conflict: str = "", **values: str
) -> None:
    if taken.number:
        known = {"places": json.dumps(places)}
        tx.run(_DROP, rows=taken.rows, **known)
        put(
            tx, shape, "analysis_requests", taken, codebases,
            conflict=conflict, values={"id": _PLACE, **values}, given=known,
        )  # fmt: skip


def give(tx: Tx, user_id: UUID, kept: Mapping[int, int | None]) -> None:
    """Give accept records that were copied before their user.

    kept: their ids here -> days of retention.  Raises: OvertakenError if one was pruned since.
    """
    days = array("NULL" if one is None else one for one in kept.values())
    if kept and tx.run(_GIVE, user_id=user_id, ids=array(kept), days=days).rowcount != len(kept):
        raise OvertakenError
