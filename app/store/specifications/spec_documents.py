"""Specifications: their requests, the documents, and the features in reading order."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.domain.specification import Behaviour, Mode
from app.store.core.unit_of_work import Tx
from app.store.specifications.behaviours import to_json

#: How many features one statement stores.
AT_ONCE = 200

_ASK = text("""
    INSERT INTO spec_requests (job_id, user_id, analysis_id, language, mode)
    VALUES (:job_id, :user_id, :analysis_id, :language, :mode)""")
_ASKED = text("""
    SELECT s.job_id, s.user_id, s.analysis_id, s.language, s.mode, d.version, d.units
      FROM spec_requests s LEFT JOIN spec_documents d ON d.id = s.job_id
     WHERE s.job_id = ANY(CAST(:job_ids AS uuid[]))""")
_RUNNING = text("SELECT CAST(task_id AS uuid) AS job_id FROM broker_message WHERE unique_key = :key")
_NEWEST = text("""
    SELECT id, version, completed_at, generator, words_hash FROM spec_documents
     WHERE user_id = :user_id AND analysis_id = :analysis_id AND language = :language AND status = 'completed'
     ORDER BY version DESC LIMIT 1""")
_OLDER = text("""
    SELECT o.id FROM spec_documents o JOIN spec_documents d USING (user_id, analysis_id, language)
     WHERE d.id = :id AND o.status = 'completed' ORDER BY o.version DESC OFFSET :most""")
_COLUMNS = """
    d.id, d.user_id, d.codebase_id, d.commit_sha, d.analysis_id, d.language, d.mode, d.generator, d.version, d.status,
    d.completed_at, d.summary, d.units, d.draft, c.host, c.owner, c.name,
    c.is_private"""
_DOCUMENT = text(f"""
    SELECT {_COLUMNS} FROM spec_documents d JOIN codebases c ON c.id = d.codebase_id WHERE d.id = :id""")
_LIST = text(f"""
    SELECT {_COLUMNS} FROM spec_documents d JOIN codebases c ON c.id = d.codebase_id
     WHERE d.user_id = :user_id AND d.status = 'completed'
       AND (CAST(:analysis_id AS uuid) IS NULL OR d.analysis_id = :analysis_id)
       AND (CAST(:codebase_id AS uuid) IS NULL OR d.codebase_id = :codebase_id)
     ORDER BY d.completed_at DESC, d.version DESC LIMIT :most""")
_STORE = text("""
    INSERT INTO spec_features (document_id, draft, position, domain, feature, total, behaviours)
    SELECT :document_id, :draft, position, domain, feature, total, behaviours
      FROM unnest(CAST(:positions AS integer[]), CAST(:domains AS text[]), CAST(:features AS text[]),
                  CAST(:totals AS integer[]), CAST(:behaviours AS jsonb[]))
           AS f(position, domain, feature, total, behaviours)
     WHERE EXISTS (SELECT FROM broker_message WHERE task_id = :task_id AND lease_token = :draft FOR KEY SHARE)
    ON CONFLICT DO NOTHING""")
# The caller has locked the users row, so no two jobs of a user count at once.
_COMPLETE = text("""
    UPDATE spec_documents d
       SET status = 'completed', completed_at = :now, progress = NULL, summary = CAST(:summary AS jsonb),
           units = :units, draft = :draft, words_hash = :words_hash, version = (
               SELECT coalesce(max(o.version), 0) + 1 FROM spec_documents o
                WHERE o.user_id = d.user_id AND o.analysis_id = d.analysis_id AND o.language = d.language)
     WHERE d.id = :id AND d.status = 'running' RETURNING d.version""")
_DROP_DRAFTS = text("""
    DELETE FROM spec_features WHERE document_id = :id AND draft IS DISTINCT FROM CAST(:draft AS uuid)""")
_OUTLINE = text("""
    SELECT f.position, f.domain, f.feature, f.total FROM spec_features f
      JOIN spec_documents d ON d.id = f.document_id AND d.draft = f.draft
     WHERE d.id = :id ORDER BY f.position""")
_FEATURES = text("""
    SELECT f.position, f.domain, f.feature, f.behaviours FROM spec_features f
      JOIN spec_documents d ON d.id = f.document_id AND d.draft = f.draft
     WHERE d.id = :id AND f.position > :after ORDER BY f.position LIMIT :most""")


@dataclass(frozen=True, slots=True)
class FeatureRow:
    """A feature as it is stored."""

    domain: str
    feature: str
    behaviours: Sequence[Behaviour]


class SpecRequestRow(NamedTuple):
    """The parameters of a job.  version, units: None until the document exists."""

    job_id: UUID
    user_id: UUID
    analysis_id: UUID
    language: str
    mode: str
    version: int | None
    units: int | None


class NewestRow(NamedTuple):
    """A document.  words_hash: the fingerprint of its words, None if some are not stored."""

    id: UUID
    version: int
    completed_at: datetime
    generator: str
    words_hash: bytes | None


class DocumentRow(NamedTuple):
    """The record of a specification with its repository's address."""

    id: UUID
    user_id: UUID
    codebase_id: UUID
    commit_sha: str
    analysis_id: UUID
    language: str
    mode: str
    generator: str
    version: int | None
    status: str
    completed_at: datetime | None
    summary: dict[str, Any] | None
    units: int | None
    draft: UUID | None
    host: str
    owner: str
    name: str
    is_private: bool


class HeadingRow(NamedTuple):
    """A feature of a document, and how many behaviours it has."""

    position: int
    domain: str
    feature: str
    total: int


class StoredFeatureRow(NamedTuple):
    """A feature with its behaviours as JSON."""

    position: int
    domain: str
    feature: str
    behaviours: list[dict[str, Any]]


def unique_key(user_id: UUID, analysis_id: UUID, language: str) -> str:
    """The key of the one unfinished job that a user may have for an analysis in a language."""
    return f"spec:{user_id}:{analysis_id}:{language}"


def ask(tx: Tx, job_id: UUID, *, user_id: UUID, analysis_id: UUID, language: str, mode: Mode) -> None:
    """Store the parameters of a job."""
    tx.write(_ASK, job_id=job_id, user_id=user_id, analysis_id=analysis_id, language=language, mode=mode.value)


def requested(tx: Tx, job_id: UUID) -> SpecRequestRow | None:
    """The parameters of a job."""
    return requested_each(tx, [job_id]).get(job_id)


def requested_each(tx: Tx, job_ids: Collection[UUID]) -> dict[UUID, SpecRequestRow]:
    """The parameters of many jobs, by job; jobs of accounts that no longer exist are missing."""
    return {row.job_id: row for row in tx.run(_ASKED, job_ids=[*map(str, job_ids)]).values(SpecRequestRow)}


def running(tx: Tx, key: str) -> UUID | None:
    """The unfinished job with this unique key."""
    found: UUID | None = tx.run(_RUNNING, key=key).scalar_one_or_none()
    return found


def newest(tx: Tx, user_id: UUID, analysis_id: UUID, language: str) -> NewestRow | None:
    """The user's last document of an analysis in a language."""
    return tx.run(_NEWEST, user_id=user_id, analysis_id=analysis_id, language=language).value_or_none(NewestRow)


def beyond(tx: Tx, document_id: UUID, most: int) -> list[UUID]:
    """The oldest of the documents with the owner, analysis and language of this one, if there are more than `most`."""
    return list(tx.run(_OLDER, id=document_id, most=most).scalars())


def document(tx: Tx, document_id: UUID) -> DocumentRow | None:
    """The record of a specification; None until a worker has started it."""
    return tx.run(_DOCUMENT, id=document_id).value_or_none(DocumentRow)


def documents(
    tx: Tx, user_id: UUID, *, analysis_id: UUID | None = None, codebase_id: UUID | None = None, most: int = 100
) -> list[DocumentRow]:
    """The user's completed documents, newest first."""
    found = tx.run(_LIST, user_id=user_id, analysis_id=analysis_id, codebase_id=codebase_id, most=most)
    return found.values(DocumentRow)


def store(tx: Tx, document_id: UUID, draft: UUID, first: int, rows: Sequence[FeatureRow]) -> None:
    """Store features of a draft, which is not visible before `complete`, unless the lease is lost.

    draft: the lease token; first: position of the first of them.
    """
    tx.run(
        _STORE,
        document_id=document_id,
        task_id=str(document_id),
        draft=draft,
        positions=list(range(first, first + len(rows))),
        domains=[row.domain for row in rows],
        features=[row.feature for row in rows],
        totals=[len(row.behaviours) for row in rows],
        behaviours=[json.dumps([to_json(behaviour) for behaviour in row.behaviours]) for row in rows],
    )


def complete(
    tx: Tx,
    document_id: UUID,
    *,
    draft: UUID,
    summary: Mapping[str, Any],
    units: int,
    words_hash: bytes | None,
    now: datetime,
) -> int | None:
    """End the record with its draft as the document.  Returns: its version, None if the record had already ended.

    words_hash: as of `newest`.  The caller has locked the users row.
    """
    given = {"draft": draft, "summary": json.dumps(summary), "units": units, "words_hash": words_hash}
    found: int | None = tx.run(_COMPLETE, id=document_id, now=now, **given).scalar_one_or_none()
    return found


def drop_drafts(tx: Tx, document_id: UUID, *, but: UUID | None = None) -> None:
    """Delete what other attempts have stored.  but: the draft that stays."""
    tx.write(_DROP_DRAFTS, id=document_id, draft=but)


def outline(tx: Tx, document_id: UUID) -> list[HeadingRow]:
    """The features of a document in reading order, without their behaviours."""
    return tx.run(_OUTLINE, id=document_id).values(HeadingRow)


def features(tx: Tx, document_id: UUID, *, after: int = 0, most: int = AT_ONCE) -> list[StoredFeatureRow]:
    """Features with their behaviours.  after: the last position of the previous page."""
    return tx.run(_FEATURES, id=document_id, after=after, most=most).values(StoredFeatureRow)


def batches(rows: Iterable[FeatureRow]) -> Iterator[list[FeatureRow]]:
    """Split them into the parts that one statement stores."""
    batch: list[FeatureRow] = []
    for row in rows:
        batch.append(row)
        if len(batch) == AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch
