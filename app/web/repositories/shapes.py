"""Answers about repositories and bookmarks."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from app.web.core.shapes import Shape
from app.web.jobs.shapes import JobShape, RepositoryShape


class RepositoryResultShape(Shape):
    """Results of a repository.  newest: the last completed analysis; history: it and earlier ones."""

    host: str
    owner: str
    name: str
    url: str
    newest: JobShape | None
    history: list[JobShape]


class NewestShape(Shape):
    """The newest completed analysis of a repository's default branch.  outdated: made by another parser version."""

    id: UUID
    commit: str
    completed_at: datetime
    outdated: bool
    summary: dict[str, Any]
    links: dict[str, str]


class BookmarkShape(Shape):
    """A repository that you marked.  newest: null before its first result."""

    repository: RepositoryShape
    bookmarked_at: datetime
    newest: NewestShape | None


class BookmarksShape(Shape):
    """Newest first; next: the cursor of the next page."""

    items: list[BookmarkShape]
    next: int | None = None
