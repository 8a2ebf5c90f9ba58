"""A problem before there is a request: the server's own refusals, as HTTP bytes."""

from __future__ import annotations

import json
from http import HTTPStatus
from uuid import uuid4

Headers = list[tuple[bytes, bytes]]


def problem_bytes(status: int, detail: str) -> tuple[bytes, Headers]:
    """Body and headers, in the form of app/web/problems.py."""
    title, request_id = HTTPStatus(status).phrase, uuid4().hex
    document = {
        "type": f"/problems/{title.lower().replace(' ', '-')}",
        "title": title,
        "status": status,
        "detail": detail,
        "request_id": request_id,
    }
    body = json.dumps(document).encode()
    headers = [
        (b"content-type", b"application/problem+json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"x-request-id", request_id.encode()),
    ]
    return body, headers
