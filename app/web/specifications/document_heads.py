"""Convert what the services return about a document to what its pages and files show."""

from __future__ import annotations

from app.domain.jobs import Job
from app.domain.specification import Specification
from app.services.specifications.documents import Head
from app.web.specifications.document import Document, Source


def source_of(head: Head) -> Source:
    """The origin of a document."""
    where = head.repository
    return Source(where.host, where.owner, where.name, where.url, head.commit, head.ref)


def source_of_job(job: Job) -> Source:
    """The origin that the document of a job will have."""
    where = job.repository
    return Source(where.host, where.owner, where.name, where.url, job.commit, job.ref)


def document_of(head: Head, specification: Specification) -> Document:
    """The document with all its features."""
    return Document(specification, source_of(head), head.version, head.generator, head.completed_at)
