"""Stored sentences of the repositories that an account has specifications of, which it would pay for again."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import text

from app.store.cells.contents import put_codebases
from app.store.cells.rows import JsonRows, Shapes, gather, put, select
from app.store.core.unit_of_work import Tx

#: Of one transaction.
MOST = 2_000

_OF_DOCUMENTS = "IN (SELECT codebase_id FROM spec_documents WHERE user_id = :user_id AND status = 'completed')"
_CODEBASES = text(f"""
    WITH known AS (SELECT * FROM codebases WHERE id {_OF_DOCUMENTS}) {gather("known")}""")
_WORDS = text(f"""
    WITH words AS (
        SELECT * FROM spec_words
         WHERE codebase_id {_OF_DOCUMENTS} AND user_id IS NULL AND key > decode(:after, 'hex')
         ORDER BY key LIMIT :most)
    {gather("words", "key")}""")
_LAST = text(
    "SELECT encode(max(key), 'hex') FROM json_populate_recordset(CAST(NULL AS spec_words), CAST(:rows AS json))"
)
# Their keys are made of the repository's id: under another one nobody finds them.
_SAME_ID = "NOT jsonb_exists(CAST(:codebases AS jsonb), CAST(r.codebase_id AS text))"
_PAID = "ON CONFLICT (key) DO UPDATE SET is_paid = true WHERE excluded.is_paid AND NOT spec_words.is_paid"


def codebases(tx: Tx, user_id: UUID) -> JsonRows:
    """Read the repositories of the account's specifications."""
    return select(tx, _CODEBASES, user_id=user_id)


def read(tx: Tx, user_id: UUID, after: str) -> tuple[JsonRows, str]:
    """Read words that are everybody's.  after: the last key, in hexadecimal; -> them, and their last key."""
    taken = select(tx, _WORDS, user_id=user_id, after=after, most=MOST)
    return taken, tx.run(_LAST, rows=taken.rows).scalar_one() or ""


def put_words(tx: Tx, shape: Shapes, repositories: JsonRows, taken: JsonRows) -> None:
    """Insert words that are not there.  repositories: as `codebases` gives them.  Locks: those words, by their keys."""
    known_as = put_codebases(tx, shape, repositories)
    put(tx, shape, "spec_words", taken, known_as, condition=_SAME_ID, conflict=_PAID)
