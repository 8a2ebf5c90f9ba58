"""Stored sentences of the repositories that an account has or awaits specifications of: it would pay for them again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.cells.contents import put_codebases
from app.store.cells.rows import JsonRows, Shapes, gather, put, select
from app.store.core.unit_of_work import Tx

#: Of one statement, and of one transaction but for that which decides a move.
MOST = 2_000

# What others have paid for counts in what a waiting one has reserved.
_WAITING = """
    SELECT r.codebase_id, q.analysis_id, q.language
      FROM spec_requests q JOIN analysis_requests r ON r.job_id = q.job_id AND r.role = 'payer'
     WHERE q.user_id = :user_id AND EXISTS (SELECT FROM broker_message m WHERE m.task_id = CAST(q.job_id AS text))"""
_OF_DOCUMENTS = f"""IN (
    SELECT codebase_id FROM spec_documents WHERE user_id = :user_id AND status = 'completed'
     UNION SELECT codebase_id FROM ({_WAITING}) AS waiting)"""
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
_PAID = "ON CONFLICT (key) DO UPDATE SET is_paid = true WHERE excluded.is_paid AND NOT spec_words.is_paid"
# A request does not say which generator writes it; of the others, no words are paid for.
_WANTED = text(f"""
    WITH newest AS (
        SELECT DISTINCT ON (codebase_id, language, generator) codebase_id, analysis_id, language, generator
          FROM spec_documents WHERE user_id = :user_id AND status = 'completed'
         ORDER BY codebase_id, language, generator, completed_at DESC)
    SELECT * FROM newest
     UNION SELECT w.codebase_id, w.analysis_id, w.language, d.generator
             FROM ({_WAITING}) AS w JOIN spec_documents d USING (codebase_id, language) WHERE d.status = 'completed'
""")
# In the order of keys, as all writers of words.
_RENAME = text(f"""
    WITH renamed AS (
        DELETE FROM spec_words w USING unnest(CAST(:before AS bytea[]), CAST(:after AS bytea[])) AS n(before, after)
         WHERE w.key = n.before RETURNING n.after, w.codebase_id, w.user_id, w.words, w.is_paid, w.used_at)
    INSERT INTO spec_words (key, codebase_id, user_id, words, is_paid, used_at)
    SELECT after, codebase_id, user_id, words, is_paid, used_at FROM renamed ORDER BY after {_PAID}""")


class WantedWordsRow(NamedTuple):
    """An analysis of whose tests the words in a language, by a generator, are wanted."""

    codebase_id: UUID
    analysis_id: UUID
    language: str
    generator: str


def codebases(tx: Tx, user_id: UUID) -> JsonRows:
    """Read the repositories of the account's specifications, also of those that wait."""
    return select(tx, _CODEBASES, user_id=user_id)


def read(tx: Tx, user_id: UUID, after: str) -> tuple[JsonRows, str]:
    """Read words that are everybody's.  after: the last key, in hexadecimal; -> them, and their last key."""
    taken = select(tx, _WORDS, user_id=user_id, after=after, most=MOST)
    return taken, tx.run(_LAST, rows=taken.rows).scalar_one() or ""


def put_words(tx: Tx, shape: Shapes, repositories: JsonRows, taken: JsonRows) -> None:
    """Insert words that are not there.  repositories: as `codebases` gives them.  Locks: those words, by their keys."""
    known_as = put_codebases(tx, shape, repositories)
    put(tx, shape, "spec_words", taken, known_as, conflict=_PAID)


def wanted(tx: Tx, user_id: UUID) -> list[WantedWordsRow]:
    """The words of which the account's next specifications are made: of those that wait, and after the newest ones."""
    return tx.run(_WANTED, user_id=user_id).values(WantedWordsRow)


def rename(tx: Tx, keys: Sequence[tuple[bytes, bytes]]) -> None:
    """Put words under other keys.  keys: (where they are, where they go).  Locks: both rows of each."""
    for begin in range(0, len(keys), MOST):
        some = keys[begin : begin + MOST]
        tx.run(_RENAME, before=[before for before, _ in some], after=[after for _, after in some])
