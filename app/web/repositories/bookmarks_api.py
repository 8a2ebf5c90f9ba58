"""The repositories that the account has marked."""

from __future__ import annotations

from typing import Any

from app.domain.queues import Service
from app.services.accounts import bookmarks
from app.services.accounts.bookmarks import Bookmark
from app.web.core import auth
from app.web.core.api import api
from app.web.core.context import utc_now, wired
from app.web.core.instants import iso
from app.web.core.schemas import PageQuery
from app.web.jobs.job_json import links, repository_json
from app.web.repositories.api import repository_at
from app.web.repositories.shapes import BookmarkShape, BookmarksShape

WHERE = "/me/bookmarks/<host>/<owner>/<name>"


@api.get("/me/bookmarks")
@api.input(PageQuery, location="query", arg_name="page")
@api.output(BookmarksShape)
@api.doc(operation_id="listBookmarks", tags=["Account"])
def list_bookmarks(page: PageQuery) -> dict[str, Any]:
    """Your bookmarks, newest first, each with the numbers of the newest result."""
    found, following = bookmarks.listed(
        wired().uow, auth.person(), wired().policy, before=page.cursor, limit=page.limit
    )
    return {"items": [_shown(one) for one in found], "next": following}


@api.get(WHERE)
@api.output(BookmarkShape)
@api.doc(operation_id="getBookmark", tags=["Account"])
def show_bookmark(host: str, owner: str, name: str) -> dict[str, Any]:
    """Your bookmark of a repository; 404 if there is none."""
    return _shown(bookmarks.find(wired().uow, auth.person(), repository_at(host, owner, name), wired().policy))


@api.put(WHERE)
@api.output(BookmarkShape)
@api.doc(operation_id="addBookmark", tags=["Account"])
def add_bookmark(host: str, owner: str, name: str) -> dict[str, Any]:
    """Mark a repository that was analysed here and that you may see; idempotent."""
    where = repository_at(host, owner, name)
    return _shown(bookmarks.add(wired().uow, auth.person("write"), where, wired().policy, now=utc_now()))


@api.delete(WHERE)
@api.doc(operation_id="removeBookmark", tags=["Account"], responses={204: "No longer among your bookmarks"})
def remove_bookmark(host: str, owner: str, name: str) -> tuple[str, int]:
    """Remove the bookmark; idempotent."""
    bookmarks.remove(wired().uow, auth.person("write"), repository_at(host, owner, name))
    return "", 204


def _shown(one: Bookmark) -> dict[str, Any]:
    newest = one.newest and {
        "id": str(one.newest.id),
        "commit": one.newest.commit,
        "completed_at": iso(one.newest.completed_at),
        "outdated": one.newest.outdated,
        "summary": one.newest.summary,
        "links": links(Service.ANALYSIS, one.newest.id),
    }
    where = repository_json(one.repository) | {"private": one.is_private}
    return {"repository": where, "bookmarked_at": iso(one.created_at), "newest": newest}
