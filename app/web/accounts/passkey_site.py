"""The site that passkeys belong to, from the request's trusted host."""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import request

from app.errors import InvalidInput, Message
from app.services.accounts.passkey_checks import Site
from app.web.core.context import wired

NEEDS = Message("Passkeys work only on https, and on http://localhost.")


def site() -> Site:
    """The site of this request.  Raises: InvalidInput where no browser would use a passkey."""
    found = possible_site()
    if found is None:
        raise InvalidInput(NEEDS)
    return found


def possible_site() -> Site | None:
    """The host of the request, which trusted_hosts.py has checked; None where no browser would use a passkey.

    Behind a proxy that ends TLS, the request does not show https; PUBLIC_URL does.
    """
    here = urlsplit(request.host_url)
    public = urlsplit(wired().settings.public_url or "")
    if public.hostname == here.hostname:
        here = public
    host = here.hostname or ""
    is_local = host == "localhost" or host.endswith(".localhost")
    is_address = ":" in host or host.rpartition(".")[2].isdigit()
    if is_address or not (here.scheme == "https" or is_local):
        return None
    return Site(host, f"{here.scheme}://{here.netloc}")
