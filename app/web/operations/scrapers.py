"""Decide who may read the metrics."""

from __future__ import annotations

import ipaddress
from hmac import compare_digest

from flask import request

from app.errors import Unauthenticated
from app.web.core import auth
from app.web.core.context import wired

#: How headers of a request begin that a proxy has passed on, in lower case.
FORWARDED = ("forwarded", "x-forwarded-", "x-real-ip", "x-client-ip", "true-client-ip", "cf-connecting-ip", "via")


def check_scraper() -> None:
    """Check that the client may read the metrics: METRICS_TOKEN, an operator's token, or without both this machine.

    A request that a proxy passes on is not of this machine.  Raises: Unauthenticated, Forbidden.
    """
    token, given = wired().settings.metrics_token, auth.own_token()
    if token is None and _is_of_this_machine():
        return
    if token is not None and given is not None and compare_digest(given.encode(), token.get_secret_value().encode()):
        return
    if given is None:
        raise Unauthenticated("Send `Authorization: Bearer …` with METRICS_TOKEN, or with a token of an operator")
    auth.identify_program()
    auth.reading_operator()


def _is_of_this_machine() -> bool:
    if any(name.lower().startswith(FORWARDED) for name in request.headers.keys()):  # noqa: SIM118 - pairs otherwise
        return False
    try:
        return ipaddress.ip_address(request.remote_addr or "").is_loopback
    except ValueError:
        return False
