"""Endpoints for monitoring: alive, ready, metrics."""

from __future__ import annotations

import ipaddress
from typing import Any

from apiflask import APIBlueprint
from flask import Flask, Response, request
from prometheus_client import CONTENT_TYPE_LATEST

from app.errors import InvalidInput, Unauthenticated, Unavailable
from app.services.operations import readiness
from app.services.operations.readiness import WRITES
from app.version import VERSION
from app.web.core import auth, residence
from app.web.core.context import wired
from app.web.limits import read_costs
from app.web.operations.metrics import Of, text_of

health = APIBlueprint("health", __name__, enable_openapi=False)


def init(app: Flask) -> None:
    """Register the three routes."""
    app.register_blueprint(health)


@health.get("/healthz")
def alive() -> dict[str, str]:
    """Answer that this process works, and of which version it is."""
    return {"status": "ok", "version": VERSION}


@health.get("/readyz")
def ready() -> dict[str, Any]:
    """Check that what this process needs is available: database, schema, queues; with `writes=1`, also for writes."""
    residence.require_place()
    checks = readiness.readiness(wired().uow)
    needed = checks.keys() if _asks_for_writes() else checks.keys() - {WRITES}
    faults = [f"{name}: {word}" for name, word in checks.items() if name in needed and word != "ok"]
    if faults:
        raise Unavailable("; ".join(faults), retry_after=2, checks=checks)
    skew = readiness.ahead(wired().uow)
    said = {"status": "ready", "writes": checks[WRITES] == "ok", "checks": checks, "clock_ahead_seconds": skew}
    replica = wired().uow.replica  # not asked: a balancer must not wait for it, as the primary answers in its place
    return said if replica is None else said | {"replica": replica.fault or "ok"}


@health.get("/metrics")
def metrics() -> Response:
    """Metrics of this instance, of the whole service, or of both."""
    residence.require_place()
    check_scraper()
    return Response(text_of(_asked_of(), wired().uow, wired().policy), content_type=CONTENT_TYPE_LATEST)


def _asked_of() -> frozenset[Of]:
    given = request.args.get("of")
    if given is None:
        return frozenset(Of)
    if given not in set(Of):
        raise InvalidInput(
            "`of` is process or service", errors=[{"pointer": "/of", "detail": "expected process or service"}]
        )
    return frozenset({Of(given)})


def _asks_for_writes() -> bool:
    given = request.args.get(WRITES, "0")
    if given not in {"0", "1"}:
        raise InvalidInput("`writes` is 0 or 1", errors=[{"pointer": "/writes", "detail": "expected 0 or 1"}])
    return given == "1"


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
