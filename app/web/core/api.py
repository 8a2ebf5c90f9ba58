"""REST under /api/v1: for programs with a token, or without one if the operator allows it."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response, request
from werkzeug.exceptions import RequestEntityTooLarge, UnsupportedMediaType

from app.errors import InvalidInput
from app.web.core import auth

api = APIBlueprint("api", __name__, url_prefix="/api/v1")
ApiAnswer = tuple[dict[str, Any], int, dict[str, str]]
#: Writes that need no body.
WITHOUT_BODY = frozenset(
    {
        "api.share_specification",
        "api.add_bookmark",
        "api.redrive_dead_letter",
        "api.run_schedule_entry",
        "api.rotate_webhook_secret",
        "api.test_webhook",
        "api.replay_webhook_delivery",
    }
)


def only_objects() -> None:
    """Runs before each request: refuse a body of another type before it is read.

    This also keeps HTML forms of other sites out.
    """
    if request.method in auth.SAFE_METHODS or request.method == "DELETE":
        return
    if request.endpoint in WITHOUT_BODY and not request.content_length and not request.content_type:
        return
    if (request.content_length or request.content_type) and not request.is_json:
        raise UnsupportedMediaType("Send JSON with `Content-Type: application/json`.")
    # Werkzeug cuts a body of unknown length at the limit, and the rest would look like broken JSON
    if request.content_length is None and len(request.get_data()) >= (request.max_content_length or 0):
        raise RequestEntityTooLarge
    if not isinstance(request.get_json(force=True), dict):
        raise InvalidInput("The body is not a JSON object.", errors=[{"pointer": "", "detail": "expected an object"}])


@api.after_request
def _conditional(response: Response) -> Response:
    """ETag and 304 for answers that are read as a whole."""
    if request.method == "GET" and response.status_code == 200 and not response.is_streamed:
        response.add_etag()
        response.make_conditional(request)
    return response
