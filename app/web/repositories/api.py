"""Public repositories: the newest result, the trend, a badge."""

from __future__ import annotations

from typing import Any

from flask import Response, render_template

from app.domain.repositories import LOCAL_HOST, Repository, parse_address
from app.errors import InvalidInput, NotFound
from app.services.results.read_repository import FoundRepository, read_repository
from app.web.core.api import api
from app.web.core.context import utc_now, wired
from app.web.jobs.job_json import job_json, repository_json
from app.web.jobs.shapes import JobPageShape
from app.web.repositories.shapes import RepositoryResultShape

BADGE_SECONDS = 300
_IMAGE: dict[str | int, Any] = {
    200: {"description": "An SVG image", "content": {"image/svg+xml": {"schema": {"type": "string"}}}}
}
WHERE = "/repositories/<host>/<owner>/<name>"


@api.get(WHERE)
@api.output(RepositoryResultShape)
@api.doc(operation_id="getRepository", tags=["Repositories"])
def show_repository(host: str, owner: str, name: str) -> dict[str, Any]:
    """The newest completed analysis of a public repository, and earlier ones."""
    found = _find(host, owner, name)
    analyses = [job_json(job) for job in found.analyses]
    newest = analyses[0] if analyses else None
    return repository_json(found.repository) | {"newest": newest, "history": analyses}


@api.get(f"{WHERE}/history")
@api.output(JobPageShape)
@api.doc(operation_id="getRepositoryHistory", tags=["Repositories"])
def show_repository_history(host: str, owner: str, name: str) -> dict[str, Any]:
    """The trend: up to 20 completed analyses, newest first."""
    return {"items": [job_json(job) for job in _find(host, owner, name).analyses], "next": None}


@api.get(f"{WHERE}/badge.svg")
@api.doc(
    operation_id="getBadge",
    tags=["Repositories"],
    responses=_IMAGE,
)
def show_badge(host: str, owner: str, name: str) -> Response:
    """The number of tests as an image for a README."""
    newest = _find(host, owner, name).newest
    count = f"{newest.summary['tests']:,}" if newest and newest.summary else "none yet"
    badge = render_template("repositories/badge.svg", count=count, width=14 + 7 * len(count))
    return Response(
        badge, content_type="image/svg+xml; charset=utf-8", headers={"Cache-Control": f"max-age={BADGE_SECONDS}"}
    )


def _find(host: str, owner: str, name: str) -> FoundRepository:
    return read_repository(wired().uow, repository_at(host, owner, name), wired().policy, now=utc_now())


def repository_at(host: str, owner: str, name: str) -> Repository:
    """Parse the address by the rules for all addresses.  Raises: NotFound if it cannot be one."""
    try:
        if host == LOCAL_HOST and owner == "-":
            return parse_address(f"local:{name}", ()).repository
        return parse_address(f"git@{host}:{owner}/{name}", {host.lower()}).repository
    except InvalidInput as error:
        raise NotFound("This repository has no analysis") from error
