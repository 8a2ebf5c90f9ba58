"""The host names that the service answers to.

A browser sends the name it was given.  Without this check, an attacker could let their own name resolve to 127.0.0.1,
and a page of that name could read this service through its user's browser.  An address cannot be redirected, so every
address is accepted; health checks use one.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from urllib.parse import urlsplit

from flask import Flask, request

from app.errors import UnknownHost
from app.settings import Settings

_HOST = re.compile(r"(?:\[(?P<ipv6>[0-9a-f:.]{2,45})\]|(?P<name>[a-z0-9._-]{1,253}))(?::\d{1,5})?")


def init(app: Flask, settings: Settings) -> None:
    """Refuse every other name, before anything else happens to a request."""
    names = _names(settings)

    @app.before_request
    def refuse_strangers() -> None:
        host = request.headers.get("Host")
        if host is not None and not is_ours(host, names):  # every browser sends one
            raise UnknownHost("The Host is not a name of this service: see PUBLIC_URL and TRUSTED_HOSTS.")


def is_ours(host: str, names: frozenset[str]) -> bool:
    """Whether a Host header is an address or one of the names; `.name` stands for it and all names below it."""
    found = _HOST.fullmatch(host.lower())
    if found is None:
        return False
    if found["ipv6"] is not None:
        return _is_address(found["ipv6"])
    name = found["name"].removesuffix(".")
    parts = name.split(".")
    return _is_address(name) or name in names or any("." + ".".join(parts[n:]) in names for n in range(len(parts)))


def _names(settings: Settings) -> frozenset[str]:
    public = urlsplit(settings.public_url or "").hostname or "localhost"
    return frozenset({"localhost", public, socket.gethostname().lower(), *(settings.trusted_hosts or ())})


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
