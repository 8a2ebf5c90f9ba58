"""Specifications as files: Markdown, HTML, JSON, Gherkin."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from flask import Response

from app.services.specifications import documents
from app.web.core import auth
from app.web.core.api import api
from app.web.core.context import wired
from app.web.specifications.downloads import download
from app.web.specifications.exports import EXPORTS


def _responses(form: str) -> dict[str | int, Any]:
    media_type = EXPORTS[form].media_type.partition(";")[0]
    schema = {"type": "string", "format": "binary"} if form == "gherkin" else {"type": "string"}
    return {200: {"description": "The file", "content": {media_type: {"schema": schema}}}, 409: "Not completed yet"}


@api.get("/specs/<uuid:job_id>.md")
@api.doc(operation_id="getSpecificationAsMarkdown", tags=["Specifications"], responses=_responses("markdown"))
def specification_as_markdown(job_id: UUID) -> Response:
    """The document as Markdown: a heading for each domain and feature, a line for each behaviour."""
    return own_download("markdown", job_id)


@api.get("/specs/<uuid:job_id>.html")
@api.doc(operation_id="getSpecificationAsHtml", tags=["Specifications"], responses=_responses("html"))
def specification_as_html(job_id: UUID) -> Response:
    """The document as one HTML file that needs no network and runs no script."""
    return own_download("html", job_id)


@api.get("/specs/<uuid:job_id>.json")
@api.doc(operation_id="getSpecificationAsJson", tags=["Specifications"], responses=_responses("json"))
def specification_as_json(job_id: UUID) -> Response:
    """The document as JSON: all its data, with its source, counts, and links to the lines."""
    return own_download("json", job_id)


@api.get("/specs/<uuid:job_id>.zip")
@api.doc(operation_id="getSpecificationAsGherkin", tags=["Specifications"], responses=_responses("gherkin"))
def specification_as_gherkin(job_id: UUID) -> Response:
    """The document as Gherkin: an archive with a file for each feature."""
    return own_download("gherkin", job_id)


def own_download(form: str, job_id: UUID) -> Response:
    """A file of a document that the caller may see.  form: of EXPORTS.  Raises: as `download`."""
    viewer = auth.person()
    return download(form, lambda: documents.head(wired().uow, job_id, viewer))
