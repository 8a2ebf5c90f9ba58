"""A document behind a link, which anybody may read."""

from __future__ import annotations

from flask import Response, render_template, request, url_for

from app.services.specifications import share_links
from app.web.core.context import wired
from app.web.core.pages import pages, read
from app.web.core.schemas import SpecificationQuery
from app.web.specifications.document_pages import document_page
from app.web.specifications.downloads import download
from app.web.specifications.exports import EXPORTS

_FORMS = {export.suffix: form for form, export in EXPORTS.items()}


@pages.get("/shared/<secret>")
def show_shared(secret: str) -> str:
    """The document of a link; the same for everybody, signed in or not."""
    query, path = read(SpecificationQuery, request.args), url_for("pages.show_shared", secret=secret)
    page = document_page(share_links.document_of(wired().uow, secret), query, path, f"{path}/")
    return render_template("specifications/specification.html", page=page, account=None)


@pages.get("/shared/<secret>/<any(md, html, json, zip):suffix>")
def download_shared(secret: str, suffix: str) -> Response:
    """A shared document as a file."""
    return download(_FORMS[suffix], lambda: share_links.document_of(wired().uow, secret))
