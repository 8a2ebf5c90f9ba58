"""What a request brings that names an account: a token, a session, the secret of a link, or an e-mail address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from io import BytesIO
from typing import TYPE_CHECKING

from flask import Flask
from itsdangerous import BadSignature
from werkzeug.http import parse_cookie
from werkzeug.wrappers import Request

from app.services.accounts.check_caller import TOKEN_PREFIX
from app.store.accounts.credentials import hashed
from app.web.core.auth import SAFE_METHODS, SESSION_KEY
from app.web.core.residence import BY_GITHUB, BY_PASSKEY, CELL
from app.web.core.sessions import Sessions

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

#: Where somebody gets in by a link or an address, whoever is signed in there.
BY_LINK = frozenset({"/sign-in", "/reset", "/verify"})
#: A sign-up with a passkey asks for options and comes back without its address: both go to the browser's cell.
BY_ADDRESS = frozenset({"/sign-in/password", "/sign-up", "/forgot"})
#: The second steps of ways in, by what the session keeps of the first one.
SECOND_STEPS = {
    "/sign-in/passkey": BY_PASSKEY,
    "/sign-up/passkey": BY_PASSKEY,
    "/sign-in/github/callback": BY_GITHUB,
}
#: Where programs send tokens; a session may read there.  Pages look at nothing but the session.
API = "/api/"
LONGEST_FORM = 10_000  # bytes; such a form has an address, a password and two tokens


class NamedBy(Enum):
    """What names an account, and with it which limit holds for looking it up."""

    NOTHING = "nothing"
    TOKEN = "token"  # noqa: S105 - the kind of a credential
    SESSION = "session"
    LINK = "link"
    ADDRESS = "address"


@dataclass(frozen=True, slots=True)
class Presented:
    """What names the account of a request.

    key: the hash of a secret; email: an address; one of the two, or neither.
    before: the secret of the session in which a browser follows a link, sends an address, or takes a second step.
    began: the cell in which it took the first one.
    """

    by: NamedBy = NamedBy.NOTHING
    key: bytes | None = None
    email: str | None = None
    before: str | None = None
    began: str | None = None


def presented(app: Flask, environ: WSGIEnvironment) -> Presented:
    """Read what names the account, as app/web/core/auth.py will.  app: of any cell, as all sign sessions alike."""
    path = environ["PATH_INFO"]
    if path in BY_LINK and (token := _member(environ, "token")):
        return Presented(NamedBy.LINK, key=hashed(token), before=_session(app, environ))
    if path in BY_ADDRESS and (email := _member(environ, "email")):
        return Presented(NamedBy.ADDRESS, email=email, before=_session(app, environ))
    if path.startswith(API) and "HTTP_AUTHORIZATION" in environ:
        token = _bearer(environ)
        return Presented(NamedBy.TOKEN, key=hashed(token)) if token else Presented()
    if path.startswith(API) and environ["REQUEST_METHOD"] not in SAFE_METHODS:
        return Presented()
    if path in SECOND_STEPS and (began := _began(app, environ, SECOND_STEPS[path])):
        return Presented(before=_session(app, environ), began=began)
    secret = _session(app, environ)
    return Presented(NamedBy.SESSION, key=hashed(secret)) if secret else Presented()


def _bearer(environ: WSGIEnvironment) -> str | None:
    scheme, _, secret = environ["HTTP_AUTHORIZATION"].partition(" ")
    secret = secret.strip()
    return secret if scheme.lower() == "bearer" and secret.startswith(TOKEN_PREFIX) and secret.isascii() else None


def _session(app: Flask, environ: WSGIEnvironment) -> str | None:
    secret = _kept(app, environ).get(SESSION_KEY)
    return secret if isinstance(secret, str) else None


def _began(app: Flask, environ: WSGIEnvironment, way: str) -> str | None:
    step = _kept(app, environ).get(way)
    cell = step.get(CELL) if isinstance(step, dict) else None
    return cell if isinstance(cell, str) else None


def _kept(app: Flask, environ: WSGIEnvironment) -> Mapping[str, object]:
    """What the cookie of a browser keeps."""
    interface = app.session_interface
    if not isinstance(interface, Sessions) or (signer := interface.get_signing_serializer(app)) is None:
        return {}
    cookies, name = parse_cookie(environ), app.config["SESSION_COOKIE_NAME"]
    signed = cookies.get(f"__Host-{name}") or cookies.get(name)
    if signed is None:
        return {}
    try:
        kept: Mapping[str, object] = signer.loads(signed, max_age=int(app.permanent_session_lifetime.total_seconds()))
    except BadSignature:
        return {}
    return kept


def _member(environ: WSGIEnvironment, name: str) -> str | None:
    """A member of the query, or of a short form, read as Flask does; the body is left as it was."""
    body = environ["wsgi.input"]
    short = body.read(LONGEST_FORM)
    body.seek(0)
    copy = environ | {"wsgi.input": BytesIO(short), "CONTENT_LENGTH": str(len(short))}
    request = Request(copy, populate_request=False)
    given = request.form if request.method == "POST" else request.args
    return given.get(name, "").strip() or None
