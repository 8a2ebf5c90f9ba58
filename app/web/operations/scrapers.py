"""Decide who may read the metrics."""

from __future__ import annotations

import ipaddress

from flask import request

from app.errors import Unauthenticated
from app.web.core import auth
from app.web.core.context import wired
from app.web.limits import read_costs

#: How headers of a request begin that a proxy has passed on, in lower case.
FORWARDED = ("forwarded", "x-forwarded-", "x-real-ip", "x-client-ip", "true-client-ip", "cf-connecting-ip", "via")


def check_scraper() -> None:
    """Check that the client may read the metrics: METRICS_TOKEN, an operator's token, or without both this machine.

    A request that a proxy passes on is not of this machine.  Refused credentials are counted as those of the API.
    Raises: Unauthenticated, Forbidden, TooManyRequests.
    """
    token = wired().settings.metrics_token
    if token is None and _is_of_this_machine():
        return
    if not auth.has_credentials():
        raise Unauthenticated("Send `Authorization: Bearer …` with METRICS_TOKEN, or with a token of an operator")
    if token is not None and read_costs.is_secret(token.get_secret_value()):
        return
    read_costs.identify_program()
    auth.reading_operator()


def _is_of_this_machine() -> bool:
    if any(name.lower().startswith(FORWARDED) for name in request.headers.keys()):  # noqa: SIM118 - pairs otherwise
        return False
    try:
        return ipaddress.ip_address(request.remote_addr or "").is_loopback
    except ValueError:
        return False
