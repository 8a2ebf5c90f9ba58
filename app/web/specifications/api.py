"""Request, read, share and cancel specifications."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from flask import Response, jsonify, request
from werkzeug.exceptions import NotAcceptable

from app.domain.lifecycle import Status
from app.services.jobs import read_jobs
from app.services.specifications import delete_document, documents, share_links, submit_specification
from app.services.specifications.submit_specification import WantedSpecification
from app.web.accounts.usage_json import price_json
from app.web.core import auth
from app.web.core.api import ApiAnswer, api
from app.web.core.context import utc_now, wired
from app.web.core.schemas import SpecificationsQuery, SubmitSpecification
from app.web.jobs.idempotency import answered, idempotency_key
from app.web.jobs.job_json import ACCEPTED, job_json, rendered
from app.web.jobs.shapes import TimelineShape
from app.web.limits.duplicate_requests import only_one
from app.web.limits.read_costs import behaviours, priced
from app.web.specifications.exports import EXPORTS
from app.web.specifications.files_api import own_download
from app.web.specifications.json_file import whole_json
from app.web.specifications.shapes import (
    ShareShape,
    SpecificationJobShape,
    SpecificationJobsShape,
    SpecificationPriceShape,
    SpecificationWithDocumentShape,
)

#: What `Accept` may ask for instead of the job.
_OFFERED = {"application/json": ""} | {
    export.media_type.partition(";")[0]: form for form, export in EXPORTS.items() if form != "json"
}
_FILES: dict[str | int, Any] = {
    200: {"content": {media_type: {"schema": {"type": "string"}} for media_type, form in _OFFERED.items() if form}},
    406: "None of the offered media types is acceptable",
    409: "Requested as a file, but not completed",
}


_EXISTING_OR_PRICE: dict[str, Any] = {
    "description": "An existing document, for which nothing is billed; or the cost, for a dry run",
    "content": {
        "application/json": {
            "schema": {
                "anyOf": [
                    {"$ref": "#/components/schemas/SpecificationJob"},
                    SpecificationPriceShape.model_json_schema(),
                ]
            }
        }
    },
}

_ANSWERS: dict[str | int, Any] = {200: _EXISTING_OR_PRICE}


@api.post("/specs")
@api.input(SubmitSpecification, arg_name="body")
@api.output(SpecificationJobShape, ACCEPTED, description="Accepted, or already under way")
@api.doc(
    operation_id="submitSpecification",
    tags=["Specifications"],
    responses=_ANSWERS,
)
def submit_specification_job(body: SubmitSpecification) -> ApiAnswer | Response:
    """Write a specification of an analysis.

    This reserves a unit for each test without a stored sentence and enqueues the job, in one transaction.  `dry_run`
    returns the price and reserves nothing.  With `Idempotency-Key`, a repeated request gets the stored answer.
    """
    account, services = auth.person("write"), wired()
    wanted = WantedSpecification(body.analysis_id, body.language, body.mode)
    key = idempotency_key(body.model_dump(mode="json"), rendered)
    with only_one(account.user_id, key), priced(wanted.analysis_id):
        if body.dry_run:
            return jsonify(price_json(submit_specification.dry_run(services.uow, account, wanted, services.policy)))
        return answered(submit_specification.submit(services.uow, account, wanted, services.policy, key=key))


@api.get("/specs")
@api.input(SpecificationsQuery, location="query", arg_name="query")
@api.output(SpecificationJobsShape)
@api.doc(operation_id="listSpecifications", tags=["Specifications"])
def list_specifications(query: SpecificationsQuery) -> dict[str, Any]:
    """Your completed specifications, newest first; of one analysis, or of all."""
    services, viewer = wired(), auth.person()
    found = documents.jobs(services.uow, viewer, services.policy, analysis_id=query.analysis_id, now=utc_now())
    return {"items": [job_json(job) for job in found]}


@api.get("/specs/<uuid:job_id>")
@api.output(SpecificationWithDocumentShape)
@api.doc(operation_id="getSpecification", tags=["Specifications"], responses=_FILES)
def show_specification(job_id: UUID) -> dict[str, Any] | Response:
    """A specification: its state, as for an analysis, and its domains, features and behaviours once it has completed.

    With `Accept` it is also returned as a file, as from the addresses of the files: Markdown, HTML or Gherkin.
    """
    services, viewer = wired(), auth.person()
    if form := _file_form():
        return own_download(form, job_id)
    job = documents.job(services.uow, job_id, viewer, services.policy, now=utc_now())
    if job.status is not Status.COMPLETED or job.summary is None:
        return {**job_json(job), "document": None}
    with behaviours(job.summary["behaviours"]):
        head = documents.head(services.uow, job_id, viewer)
        whole = documents.specification(services.uow, head)
        return {**job_json(job), "document": whole_json(whole)}


@api.delete("/specs/<uuid:job_id>")
@api.doc(
    operation_id="deleteSpecification",
    tags=["Specifications"],
    responses={204: "The document is deleted; or the job is cancelled, or stops soon", 409: "The job has failed"},
)
def delete_specification(job_id: UUID) -> tuple[str, int]:
    """Delete your document with its link, or cancel the job while it has not ended, as for an analysis.

    The bill stays, and the sentences stay paid, so the same document costs nothing when it is requested again.
    """
    services, account = wired(), auth.person("write")
    delete_document.delete(services.uow, job_id, account, services.policy, now=utc_now())
    return "", 204


@api.get("/specs/<uuid:job_id>/timeline")
@api.output(TimelineShape)
@api.doc(operation_id="getSpecificationTimeline", tags=["Specifications"])
def show_specification_timeline(job_id: UUID) -> dict[str, Any]:
    """Every transition, attempt, snooze and lease of a specification, with its time."""
    services, viewer = wired(), auth.person()
    documents.job(services.uow, job_id, viewer, services.policy, now=utc_now())
    return {"items": read_jobs.timeline(services.uow, job_id, viewer)}


@api.post("/specs/<uuid:job_id>/share")
@api.output(ShareShape, 201)
@api.doc(
    operation_id="shareSpecification",
    tags=["Specifications"],
    responses={201: "Shared", 409: "The specification has not completed"},
)
def share_specification(job_id: UUID) -> dict[str, Any]:
    """Create a link with which anybody may read the document; it is shown only once, and replaces the previous one."""
    secret = share_links.make(wired().uow, job_id, auth.person("write"), now=utc_now())
    return {"secret": secret, "page": f"/shared/{secret}"}


@api.delete("/specs/<uuid:job_id>/share")
@api.doc(operation_id="unshareSpecification", tags=["Specifications"], responses={204: "No link leads to it any more"})
def unshare_specification(job_id: UUID) -> tuple[str, int]:
    """Withdraw the link; idempotent."""
    share_links.withdraw(wired().uow, job_id, auth.person("write"))
    return "", 204


def _file_form() -> str:
    """The export that the Accept header asks for; empty for the job, which is the default.  Raises: NotAcceptable."""
    if not request.accept_mimetypes:
        return ""
    best = request.accept_mimetypes.best_match(list(_OFFERED))
    if best is None:
        raise NotAcceptable(f"The offered types are {', '.join(_OFFERED)}.")
    return _OFFERED[best]
