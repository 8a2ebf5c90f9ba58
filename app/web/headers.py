"""Headers of every response: what a browser may do with it, and the request's id."""

from __future__ import annotations

from flask import Flask, Response, request

from app.web.context import request_id

CSP = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'self'; object-src 'none'; frame-ancestors 'none'"
)
#: Of the API: what is secret or about a person.  Other answers are kept with an ETag, and asked about each time.
PERSONAL = ("/api/v1/me", "/api/v1/usage", "/api/v1/quota", "/api/v1/operator")
ALWAYS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cross-Origin-Opener-Policy": "same-origin",
}
#: Unless the page is stricter: flask-wtf asks for the referrer of forms on https; other sites get none.
REFERRER = ("Referrer-Policy", "same-origin")
#: Below it the address is the secret: no site learns it by a link that is followed, and no search engine lists it.
SHARED = "/shared/"
SECRETIVE = {"Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex"}


def init(app: Flask) -> None:
    """Send them with every response, errors included."""
    app.after_request(_add)


def _add(response: Response) -> Response:
    for name, value in ALWAYS.items():
        response.headers[name] = value
    if request.path.startswith(SHARED):  # also of a refusal, and of what is no page
        response.headers |= SECRETIVE
    response.headers.setdefault(*REFERRER)
    response.headers["X-Request-Id"] = request_id()
    response.headers.setdefault("Cache-Control", "no-store" if _is_personal() else "private, no-cache")
    if request.path.startswith("/api/"):
        response.vary.update(("Accept", "Authorization", "Cookie"))
    if request.is_secure:
        response.headers["Strict-Transport-Security"] = "max-age=31536000"
    return response


def _is_personal() -> bool:
    """Pages show who is signed in, and all of them hold a token of the form."""
    if request.path.startswith("/api/"):
        return request.method not in {"GET", "HEAD"} or request.path.startswith(PERSONAL)
    return True
