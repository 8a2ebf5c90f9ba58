"""The requests of an account in its new cell, in their old order, which histories are read in."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
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
_GIVE = text("""
    UPDATE analysis_requests SET user_id = :user_id
     WHERE id = ANY (CAST(:ids AS bigint[])) AND role = 'payer' AND user_id IS NULL""")


def new_places(tx: Tx, requests: Iterable[int]) -> dict[int, int]:
    """Ids for requests, in their order, whether they come now or later.  requests: ascending."""
    old = list(requests)
    return dict(zip(old, tx.run(_PLACES, number=len(old)).scalars(), strict=True))


def put_accepts(tx: Tx, shape: Shapes, taken: JsonRows, codebases: str, places: Mapping[int, int]) -> None:
    """Insert accept records without their users; an account's own at their places."""
    _put(tx, shape, taken, codebases, places, _SAME_JOB, user_id="NULL")


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


def give(tx: Tx, user_id: UUID, ids: Collection[int]) -> None:
    """Give accept records that were copied before their user.  Raises: OvertakenError if one was pruned since."""
    if ids and tx.run(_GIVE, user_id=user_id, ids=array(ids)).rowcount != len(ids):
        raise OvertakenError
