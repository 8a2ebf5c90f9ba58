"""The records of jobs, which have the same life in both services.  Only workers write them (docs/adr/0006)."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.domain.lifecycle import Failure, RecordStatus
from app.domain.queues import Service
from app.store.core.unit_of_work import Tx

#: Where the records of a service are.
TABLES = {Service.ANALYSIS: "analyses", Service.SPECVIEW: "spec_documents"}
#: The column with the version of the rules that made a record.
_MAKERS = {Service.ANALYSIS: "parser_version", Service.SPECVIEW: "generator"}
_START = {
    Service.ANALYSIS: text("""
        INSERT INTO analyses (id, codebase_id, commit_sha, status, parser_version, attempt, started_at)
        SELECT job_id, codebase_id, commit_sha, 'running', :maker, :attempt, :now
          FROM analysis_requests WHERE job_id = :id AND role = 'payer'
        ON CONFLICT (id) DO UPDATE
           SET attempt = excluded.attempt, parser_version = excluded.parser_version, progress = NULL
         WHERE analyses.status = 'running'"""),
    Service.SPECVIEW: text("""
        INSERT INTO spec_documents (id, user_id, codebase_id, commit_sha, analysis_id, language, mode, status,
                                    generator, attempt, started_at)
        SELECT r.job_id, s.user_id, r.codebase_id, r.commit_sha, s.analysis_id, s.language, s.mode, 'running',
               :maker, :attempt, :now
          FROM analysis_requests r JOIN spec_requests s ON s.job_id = r.job_id
         WHERE r.job_id = :id AND r.role = 'payer'
        ON CONFLICT (id) DO UPDATE
           SET attempt = excluded.attempt, generator = excluded.generator, progress = NULL
         WHERE spec_documents.status = 'running'"""),
}

_FOUND = {
    service: f"""
        SELECT id, status, {_MAKERS[service]} AS maker, attempt, started_at, completed_at, error_code, error_message,
               error_retryable, summary, progress FROM {table}"""
    for service, table in TABLES.items()
}
_FIND = {service: text(f"{found} WHERE id = :id") for service, found in _FOUND.items()}
_FIND_EACH = {service: text(f"{found} WHERE id = ANY(CAST(:ids AS uuid[]))") for service, found in _FOUND.items()}
_COMPLETED = text("""
    SELECT id FROM job_records WHERE id = ANY(CAST(:ids AS uuid[])) AND status = 'completed'""")
_END = {
    service: text(f"""
        UPDATE {table} SET status = CAST(:status AS analysis_status), completed_at = :now, progress = NULL,
               error_code = :code, error_message = left(:message, 1000), error_retryable = :retryable
         WHERE id = :id AND status = 'running'""")
    for service, table in TABLES.items()
}


class RecordRow(NamedTuple):
    """The record of a job of either service.  maker: parser version or generator."""

    id: UUID
    status: str
    maker: str
    attempt: int
    started_at: datetime
    completed_at: datetime | None
    error_code: str | None
    error_message: str | None
    error_retryable: bool | None
    summary: dict[str, Any] | None
    progress: dict[str, Any] | None


def find(tx: Tx, service: Service, job_id: UUID) -> RecordRow | None:
    """The record of a job; None until a worker has started it."""
    return tx.run(_FIND[service], id=job_id).value_or_none(RecordRow)


def find_each(tx: Tx, service: Service, job_ids: Collection[UUID]) -> dict[UUID, RecordRow]:
    """The records of many jobs, by job; a job without a record is missing."""
    return {row.id: row for row in tx.run(_FIND_EACH[service], ids=[*map(str, job_ids)]).values(RecordRow)}


def completed(tx: Tx, job_ids: Collection[UUID]) -> set[UUID]:
    """Choose the jobs that have completed, of both services."""
    return set(tx.run(_COMPLETED, ids=[*map(str, job_ids)]).scalars())


def start(tx: Tx, service: Service, job_id: UUID, *, maker: str, attempt: int, now: datetime) -> None:
    """Create the record, or continue that of an earlier attempt; nothing changes if the job has already ended.

    maker: the rules that make it: the version of the parser, the name of the generator.
    """
    tx.write(_START[service], id=job_id, maker=maker, attempt=attempt, now=now)


def fail(tx: Tx, service: Service, job_id: UUID, failure: Failure, *, now: datetime) -> bool:
    """End the record with a reason; False if it had already ended."""
    return _end(tx, service, job_id, RecordStatus.FAILED, failure, now)


def cancel(tx: Tx, service: Service, job_id: UUID, *, now: datetime) -> bool:
    """End the record as cancelled; False if there is none or it had ended."""
    return _end(tx, service, job_id, RecordStatus.CANCELLED, None, now)


def _end(tx: Tx, service: Service, job_id: UUID, status: RecordStatus, failure: Failure | None, now: datetime) -> bool:
    ended = tx.run(
        _END[service],
        id=job_id,
        status=status.value,
        now=now,
        code=failure.code if failure else None,
        message=failure.message if failure else None,
        retryable=failure.retryable if failure else None,
    )
    return ended.rowcount > 0
