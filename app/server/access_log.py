"""The access log: one line for each request, when its last byte was handed over."""

from __future__ import annotations

from functools import partial

import structlog

from app import log_writer
from app.exchanges import Exchange

#: Routes that programs ask all the time, and files: their lines are for debugging.
QUIET = frozenset({"/healthz", "/readyz", "/metrics", "/static/<path:filename>"})

log = structlog.get_logger(__name__)


def access_line(exchange: Exchange) -> None:
    """Write the line of a request: without its path, which may be a secret, and the address, which names a person."""
    if exchange.route in QUIET:
        log.debug("request", **facts(exchange))
    else:
        log_writer.write(__name__, "request", partial(facts, exchange))


def facts(exchange: Exchange) -> dict[str, object]:
    """What is known of a request that is over."""
    known: dict[str, object] = {"method": exchange.method, "route": exchange.route, "status": exchange.status}
    known |= {"seconds": round(exchange.seconds, 4), "bytes": exchange.size}
    known |= {"request_id": exchange.origin.request_id, "trace_id": exchange.origin.trace_id}
    known |= {"tenant": exchange.tenant, "job_id": exchange.job_id, "refusal": exchange.refusal}
    known["cut"] = None if exchange.is_whole else True
    return {name: fact for name, fact in known.items() if fact is not None}
