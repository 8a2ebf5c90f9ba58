"""Specifications for their owner: live while one is under way, then the document, its history and changes."""

from __future__ import annotations

from uuid import UUID

from flask import redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from app.domain.jobs import Job
from app.domain.lifecycle import Status
from app.domain.queues import Service
from app.domain.specification import Mode
from app.services.jobs import read_jobs, visibility
from app.services.jobs.cancel import cancel
from app.services.specifications import delete_document, documents, share_links
from app.services.specifications.documents import Head
from app.store.accounts.users import Account
from app.web.core import auth
from app.web.core.context import utc_now, wired
from app.web.core.pages import pages, read
from app.web.core.schemas import SpecificationChangesQuery, SpecificationQuery
from app.web.jobs.job_json import links
from app.web.specifications.document_heads import source_of_job
from app.web.specifications.document_pages import comparison_page, document_page
from app.web.specifications.histories import history_page
from app.web.specifications.owner_view import OwnDocuments, owners_view, page_of
from app.web.specifications.schemas import HistoryQuery
from app.web.specifications.view import OwnersView


@pages.get("/specs/<uuid:job_id>")
def show_specification(job_id: UUID) -> str:
    """The current state of the specification."""
    services, viewer = wired(), auth.person()
    job = documents.job(services.uow, job_id, viewer, services.policy, now=utc_now())
    return _document(job_id, viewer) if job.status is Status.COMPLETED else _under_way(job, viewer)


@pages.post("/specs/<uuid:job_id>/cancel")
def cancel_specification(job_id: UUID) -> Response:
    """Cancel, then show the job."""
    services, account = wired(), auth.person("write")
    cancel(services.uow, job_id, account, services.policy, service=Service.SPECVIEW, now=utc_now())
    return redirect(url_for("pages.show_specification", job_id=job_id), 303)


@pages.post("/specs/<uuid:job_id>/delete")
def delete_specification(job_id: UUID) -> Response:
    """Delete the document, then show what is left; its analysis may be gone already."""
    services, account = wired(), auth.person("write")
    delete_document.delete(services.uow, job_id, account, services.policy, now=utc_now())
    return redirect(url_for("pages.show_history"), 303)


@pages.get("/specs/<uuid:job_id>/compare/<uuid:other_id>")
def compare_specifications(job_id: UUID, other_id: UUID) -> str:
    """The changes from one document to the other."""
    query, viewer, uow = read(SpecificationChangesQuery, request.args), auth.person(), wired().uow
    before, after = (documents.head(uow, one, viewer) for one in (job_id, other_id))
    return render_template("specifications/comparison.html", page=comparison_page(before, after, query, viewer))


@pages.get("/specs/<uuid:job_id>/history")
def specification_history(job_id: UUID) -> str:
    """The documents of its repository, by commit."""
    query, services = read(HistoryQuery, request.args), wired()
    viewer = auth.person()
    head = documents.head(services.uow, job_id, viewer)
    page = history_page(head, query.language, services.policy.languages, viewer)
    return render_template("specifications/history.html", page=page)


@pages.post("/specs/<uuid:job_id>/share")
def share_specification(job_id: UUID) -> str:
    """Create a link and show it; this is the only time, so there is no redirect."""
    viewer = auth.person("write")
    secret = share_links.make(wired().uow, job_id, viewer, now=utc_now())
    return _document(job_id, viewer, url_for("pages.show_shared", secret=secret, _external=True))


@pages.post("/specs/<uuid:job_id>/withdraw")
def withdraw_specification(job_id: UUID) -> Response:
    """Withdraw the link."""
    share_links.withdraw(wired().uow, job_id, auth.person("write"))
    return redirect(url_for("pages.show_specification", job_id=job_id, _anchor="share"), 303)


def _document(job_id: UUID, viewer: Account, link: str | None = None) -> str:
    head = documents.head(wired().uow, job_id, viewer)
    files = url_for("api.show_specification", job_id=job_id) + "."
    query, whose = read(SpecificationQuery, request.args), documents.whose(wired().uow, job_id, viewer)
    page = document_page(head, query, page_of(head), files, owner=_tools(head, viewer, link), whose=whose)
    return render_template("specifications/specification.html", page=page)


def _tools(head: Head, viewer: Account, link: str | None) -> OwnersView | None:
    """The owner's tools; None for an operator, who reads another user's document."""
    if viewer.user_id != head.owner_id:
        return None
    uow, policy = wired().uow, wired().policy
    writes_anew = Mode.REGENERATE_FRESH.by(policy.generator) is Mode.REGENERATE_FRESH
    versions, history = documents.versions(uow, head), documents.history(uow, head)
    shared_at = share_links.made_at(uow, head.id, viewer)
    return owners_view(head, OwnDocuments(versions, history, policy.languages, shared_at, link, writes_anew))


def _under_way(job: Job, viewer: Account) -> str:
    writing = job.writing
    if writing is None:
        raise TypeError("a job of another service")
    return render_template(
        "specifications/job.html",
        job=job,
        links=links(job.service, job.id),
        writing=writing,
        source=source_of_job(job),
        language=wired().policy.languages.get(writing.language, writing.language),
        whose=documents.whose(wired().uow, job.id, viewer),
        events=read_jobs.timeline(wired().uow, job.id, viewer),
        final=job.is_final,
        may_cancel=not job.is_final and visibility.asked_for(wired().uow, job.id, viewer),
        cancel_url=url_for("pages.cancel_specification", job_id=job.id),
        retry_url=url_for("pages.specify_form", job_id=writing.analysis_id),
        analysis_url=url_for("pages.show_job", job_id=writing.analysis_id),
    )
