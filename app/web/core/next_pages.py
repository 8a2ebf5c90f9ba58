"""The page that a person wanted before they had to sign in, or to confirm that it is them."""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import redirect, request, session, url_for
from werkzeug.wrappers import Response

from app.web.core.local_paths import local_path

#: In the session.
NEXT = "next"
LONGEST = 500  # characters; the cookie must stay small
#: Pages on the way, to which nobody wants to return.
_ON_THE_WAY = frozenset({
    "pages.show_sign_in", "pages.show_sign_up", "pages.show_forgot", "pages.show_reset", "pages.show_confirmation",
})  # fmt: skip


def remember() -> None:
    """Note the `next` of this request, if it has one; it stays until somebody has signed in or confirmed."""
    if "next" in request.args:
        wanted = local_path(request.args["next"])
        session[NEXT] = wanted if len(wanted) <= LONGEST else "/"


def taken() -> str:
    """The page that was noted, which is forgotten now."""
    found = session.pop(NEXT, "/")
    return local_path(found) if isinstance(found, str) else "/"


def lead_on() -> Response:
    """Go to the page that was noted."""
    return redirect(taken(), 303)


def sign_in_url() -> str:
    """The address of the sign-in page, from which a person comes back to this page."""
    return url_for("pages.show_sign_in", next=_here())


def before_this() -> str:
    """The page whose form was sent; the account's page if the browser does not say."""
    return _referring() or url_for("pages.show_account")


def _here() -> str | None:
    """The page that is asked for, or whose form was sent; None on the way, where the page noted before stays."""
    if request.endpoint in _ON_THE_WAY:
        return None
    if request.method not in {"GET", "HEAD"}:  # the session has ended since the form was shown
        page = _referring()
        return None if page is None or urlsplit(page).path in map(url_for, _ON_THE_WAY) else page
    return request.full_path if request.query_string else request.path


def _referring() -> str | None:
    parts = urlsplit(request.referrer or "")
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    return local_path(path) if path else None
