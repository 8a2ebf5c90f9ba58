"""A problem before there is a request: the server's own refusals, as HTTP bytes."""

from __future__ import annotations

import json
from http import HTTPStatus
from uuid import uuid4

from app.errors import Problem
from app.exchanges import Exchange

Headers = list[tuple[bytes, bytes]]


def problem_bytes(status: int, detail: str, exchange: Exchange) -> tuple[bytes, Headers]:
    """Body and headers, in the form of app/web/core/problems.py."""
    title = HTTPStatus(status).phrase
    return _bytes(title.lower().replace(" ", "-"), title, status, detail, exchange)


def refused(problem: Problem, exchange: Exchange) -> tuple[bytes, Headers]:
    """The bytes and headers of a problem of the application."""
    body, headers = _bytes(problem.slug, problem.title, problem.status, problem.detail, exchange)
    if problem.retry_after is not None:
        headers.append((b"retry-after", str(problem.retry_after).encode()))
    return body, headers


def _bytes(slug: str, title: str, status: int, detail: str, exchange: Exchange) -> tuple[bytes, Headers]:
    request_id = exchange.origin.request_id or uuid4().hex
    exchange.refusal = slug
    document = {
        "type": f"/problems/{slug}",
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
