"""A specification as a file, sent a feature at a time."""

from __future__ import annotations

from collections.abc import Callable

from flask import Response

from app.services.specifications import documents
from app.services.specifications.documents import Head
from app.web.core import auth
from app.web.core.context import wired
from app.web.limits.read_costs import behaviours, reads
from app.web.specifications.document_heads import document_of
from app.web.specifications.exports import EXPORTS, file_name


def download(form: str, find: Callable[[], Head]) -> Response:
    """Stream the document.  form: of EXPORTS; find: looks it up, and refuses a viewer who may not read it.

    The document is read before the answer begins, so that a Problem can still be answered.  It holds a place among the
    exports, because its memory is used until the last piece is sent.  Raises: as `large` and `find`.
    """
    head, export = find(), EXPORTS[form]
    # the answer is closed after the request's context has gone, so it takes what it needs now
    client, lane = auth.client(), reads().exports
    lane.enter(client)
    try:
        with behaviours(head.summary["behaviours"]):
            document = document_of(head, documents.specification(wired().uow, head))
    except BaseException:
        lane.leave(client)
        raise
    response = Response(export.write(document), content_type=export.media_type)
    # however it ends, even if it never began
    response.call_on_close(lambda: lane.leave(client))
    response.headers["Content-Disposition"] = f'attachment; filename="{file_name(document, export)}"'
    return response
