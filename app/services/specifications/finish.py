"""Complete a specification: document, bill, slot, wake and message in one commit (docs/adr/0002, docs/adr/0047)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.domain.jobs import Summary
from app.domain.lifecycle import Delivery, Outcome
from app.domain.queues import Service
from app.domain.specification import MOST_VERSIONS, Shelf, Specification
from app.services.jobs import end_job
from app.store.core.unit_of_work import Tx, UnitOfWork, retried
from app.store.jobs import events, messages, quota
from app.store.operations import retention
from app.store.specifications import spec_documents, spec_words


@dataclass(frozen=True, slots=True)
class WholeDocument:
    """A whole document that is not stored yet.

    keys: of its stored sentences, each once; used: of all its stored words; says: the fingerprint of its words, None if
    some fell back; shelf: where its words are stored; fresh: for a sentence that was written anew, where its words are
    and where they move once they are paid for.
    """

    specification: Specification
    keys: Sequence[bytes]
    used: Sequence[bytes]
    says: bytes | None
    shelf: Shelf
    fresh: Sequence[tuple[bytes, bytes]] | None = None


@retried
def finish(
    uow: UnitOfWork, delivery: Delivery, user_id: UUID, written: WholeDocument, *, now: datetime | None = None
) -> Outcome:
    """End the job as completed, or change nothing if the lease is lost.

    Sentences that no document has paid for are billed, at most as many as were reserved.  now: None = by the database.
    Locks: the users row, then the message.  Returns: COMPLETED, CANCELLED or STALE.
    """
    with uow.begin() as tx:
        fenced = end_job.lock(tx, delivery, user_id, now=now)
        if fenced is None:
            return Outcome.STALE
        now = fenced.now
        if fenced.cancelled or fenced.gone:
            return end_job.cancel(tx, delivery, Service.SPECVIEW, fenced, now=now)
        if written.fresh is None:
            cost = spec_words.pay(tx, written.keys, now=now)
        else:
            cost = len(written.keys)
            spec_words.replace(tx, written.shelf, written.fresh, now=now)
        spec_words.use(tx, written.used, now=now)
        units = quota.bill(tx, delivery.job_id, cost=cost, now=now)
        behaviours, version = _complete(tx, delivery, written, units, now=now)
        messages.delete(tx, delivery.job_id)
        end_job.leave(tx, delivery, Service.SPECVIEW, fenced, now=now)
        events.completed(tx, delivery.job_id, behaviours=behaviours, version=version, attempt=delivery.attempt)
        return Outcome.COMPLETED


def _complete(tx: Tx, delivery: Delivery, written: WholeDocument, units: int, *, now: datetime) -> tuple[int, int]:
    """Store the document, and drop its oldest version if there are too many.  Returns: its behaviours, its version."""
    job_id, draft, summary = delivery.job_id, delivery.lease_token, _summary(written.specification)
    version = spec_documents.complete(
        tx, job_id, draft=draft, summary=summary, units=units, words_hash=written.says, now=now
    )
    if version is None:
        raise RuntimeError("the record ended under our lease")
    spec_documents.drop_drafts(tx, job_id, but=draft)
    retention.drop_jobs_now(tx, spec_documents.beyond(tx, job_id, MOST_VERSIONS), now=now)
    return summary["behaviours"], version


def _summary(specification: Specification) -> Summary:
    features = [feature for domain in specification.domains for feature in domain.features]
    behaviours = [behaviour for feature in features for behaviour in feature.behaviours]
    return {
        "text": specification.summary,
        "domains": len(specification.domains),
        "features": len(features),
        "behaviours": len(behaviours),
        "subtests": sum(one.subject.kind == "subtest" for one in behaviours),
        "by_status": dict(sorted(Counter(one.subject.status for one in behaviours).items())),
        "fell_back": sum(one.fell_back for one in behaviours),
    }
