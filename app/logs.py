"""Structured logs: an event, ids and numbers; as text for people or as JSON lines for machines."""

from __future__ import annotations

import logging
import sys
from typing import Any, Literal

import structlog

from app.environment import strangers
from app.settings import Settings
from app.version import VERSION


def add_version(_logger: object, _method: str, event: dict[str, Any]) -> dict[str, Any]:
    """Add `version` to a line: while a release replaces another, both write."""
    event["version"] = VERSION
    return event


SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    add_version,
]


def configure(log_format: Literal["text", "json"], *, level: int = logging.INFO) -> None:
    """Send our events and the libraries' lines through one formatter to stderr."""
    structlog.configure(
        processors=[*SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    remove_meta = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=SHARED, processors=[remove_meta, *_last(log_format)]
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    logging.basicConfig(handlers=[handler], level=level, force=True)
    logging.getLogger("httpx").setLevel(max(level, logging.WARNING))  # one line per call of a model
    for said in strangers(Settings.model_fields):
        structlog.get_logger(__name__).warning("unknown_setting", said=said)


def _last(log_format: str) -> list[Any]:
    if log_format == "json":
        return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    # the default traceback prints the values of local variables, among them secrets
    plain = structlog.dev.plain_traceback
    return [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain)]
