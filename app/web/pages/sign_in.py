"""Sign in with a link, sign out."""

from __future__ import annotations

from flask import redirect, render_template, request, session, url_for
from werkzeug.wrappers import Response

from app.errors import InvalidInput
from app.services.accounts import sessions
from app.web import auth
from app.web.context import utc_now, wired
from app.web.pages import pages


@pages.get("/sign-in")
def show_sign_in() -> str:
    """Show a button, because a program that previews links must not use one up."""
    return render_template("sign_in.html", token=request.args.get("token", ""))


@pages.post("/sign-in")
def spend_link() -> Response:
    """Use up the link and begin a session under a new cookie.  Raises: InvalidInput."""
    secret = sessions.sign_in(wired().uow, request.form.get("token", ""), now=utc_now())
    if secret is None:
        raise InvalidInput("This link was used before or has expired; ask the operator for a new one.")
    session.clear()
    session[auth.SESSION_KEY] = secret
    return redirect(url_for("pages.home"), 303)


@pages.post("/sign-out")
def sign_out() -> Response:
    """End the session here and on the server."""
    if isinstance(secret := session.get(auth.SESSION_KEY), str):
        sessions.sign_out(wired().uow, secret)
    session.clear()
    return redirect(url_for("pages.home"), 303)
