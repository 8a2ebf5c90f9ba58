"""A public repository: its newest result, the trend, its commits; and all of them to look around in."""

from __future__ import annotations

from flask import redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from app.services.accounts import bookmarks
from app.services.results import explore
from app.services.results.read_repository import MOST, read_repository
from app.web.core import auth
from app.web.core.context import utc_now, wired
from app.web.core.pages import pages, read
from app.web.core.schemas import ExploreQuery, PageQuery, PairQuery
from app.web.limits.read_costs import searching
from app.web.repositories.api import repository_at

WHERE = "/repositories/<host>/<owner>/<name>"


@pages.get(WHERE)
def show_repository(host: str, owner: str, name: str) -> str:
    """Show the newest completed analyses of a repository, up to 20."""
    services, viewer = wired(), auth.viewer()
    found = read_repository(services.uow, repository_at(host, owner, name), services.policy, now=utc_now())
    return render_template(
        "repositories/repository.html",
        where=found.repository,
        analyses=found.analyses,
        newest=found.newest,
        most=MOST,
        is_marked=viewer is not None and bookmarks.is_marked(services.uow, viewer, found.repository),
        may_submit=viewer is not None or services.settings.allow_anonymous,
    )


@pages.get(f"{WHERE}/compare")
def compare_commits(host: str, owner: str, name: str) -> Response:  # noqa: ARG001 - the ids say which
    """Redirect to the comparison of two analyses of the repository."""
    query = read(PairQuery, request.args)
    return redirect(url_for("pages.show_comparison", job_id=query.before, other_id=query.after), 303)


@pages.post(f"{WHERE}/bookmark")
def mark_repository(host: str, owner: str, name: str) -> Response:
    """Add it to the bookmarks, or remove it."""
    account, where = auth.person("write"), repository_at(host, owner, name)
    if request.form.get("remove"):
        bookmarks.remove(wired().uow, account, where)
    else:
        bookmarks.add(wired().uow, account, where, wired().policy, now=utc_now())
    return redirect(url_for("pages.show_repository", host=host, owner=owner, name=name), 303)


@pages.get("/explore")
def show_explore() -> str:
    """Public repositories, those with the newest results first."""
    query = read(ExploreQuery, request.args)
    services, viewer = wired(), auth.viewer()
    with searching(query.q):
        found = explore.find(services.uow, viewer, query.q, services.policy)
    hides_local = viewer is None and services.settings.local_repos_root is not None
    return render_template(
        "repositories/explore.html",
        found=found,
        typed=query.q,
        most=explore.MOST,
        hides_local=hides_local,
        cells=services.elsewhere,
    )


@pages.get("/bookmarks")
def show_bookmarks() -> str:
    """The account's bookmarks, each with its newest result."""
    account, page = auth.person(), read(PageQuery, request.args)
    found, following = bookmarks.listed(wired().uow, account, wired().policy, before=page.cursor, limit=page.limit)
    return render_template("repositories/bookmarks.html", found=found, next=following)
