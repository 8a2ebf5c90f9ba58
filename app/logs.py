"""Structured logs: an event, ids and numbers; as text for people or as JSON lines for machines."""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections.abc import MutableMapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Literal

import structlog

from app import foreign_lines, origins
from app.environment import strangers
from app.settings import Settings
from app.version import VERSION


def add_version(_logger: object, _method: str, event: dict[str, Any]) -> dict[str, Any]:
    """Add `version` to a line: while a release replaces another, both write."""
    event["version"] = VERSION
    return event


def _stamp(_logger: object, _method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """The time, unless the line has the time of what it tells; a processor."""
    if "timestamp" not in line:
        line["timestamp"] = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    return line


SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    origins.add_to_line,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    _stamp,
    add_version,
]
#: json.dumps makes a new encoder for each call.
_encode = json.JSONEncoder(default=str).encode


def configure(log_format: Literal["text", "json"], *, level: int = logging.INFO) -> None:
    """Send our events and the libraries' lines to stderr, in one form.

    Ours do not pass through `logging`, which takes a multiple of the time (see also app/log_writer.py).  As JSON,
    warnings and errors that nothing catches are lines as well.
    """
    structlog.configure(
        processors=[*SHARED, *_last(log_format)],
        logger_factory=_Stderr,
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=True,
    )
    remove_meta = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[*SHARED, foreign_lines.add_fields],
        pass_foreign_args=True,
        processors=[remove_meta, *_last(log_format)],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    logging.basicConfig(handlers=[handler], level=level, force=True)
    logging.getLogger("httpx").setLevel(max(level, logging.WARNING))  # one line per call of a model
    if log_format == "json":
        logging.captureWarnings(True)
        sys.excepthook = _raised
        threading.excepthook = _thread_raised
        sys.unraisablehook = _unraisable


class _Stderr:
    """Writes each line as a whole, so that those of several threads and processes do not mix."""

    def __init__(self, name: str = "") -> None:
        self.name = name

    def msg(self, line: str) -> None:
        """Write a line."""
        sys.stderr.write(line + "\n")
        sys.stderr.flush()

    debug = info = warning = error = critical = msg


def report_strangers() -> None:
    """Report variables that only look like settings."""
    for said in strangers(Settings.model_fields):
        structlog.get_logger(__name__).warning("unknown_setting", said=said)


def _last(log_format: str) -> list[Any]:
    if log_format == "json":
        return [structlog.processors.format_exc_info, _as_json]
    # the default traceback prints the values of local variables, among them secrets
    plain = structlog.dev.plain_traceback
    return [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain)]


def _as_json(_logger: object, _method: str, line: MutableMapping[str, Any]) -> str:
    return _encode(line)


def _raised(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    level = logging.INFO if issubclass(kind, KeyboardInterrupt) else logging.CRITICAL
    logging.getLogger(__name__).log(level, "event=uncaught error=%s", kind.__name__, exc_info=(kind, error, trace))


def _thread_raised(given: threading.ExceptHookArgs) -> None:
    if given.exc_value is not None and not isinstance(given.exc_value, SystemExit):
        _raised(given.exc_type, given.exc_value, given.exc_traceback)


def _unraisable(given: sys.UnraisableHookArgs) -> None:
    if given.exc_value is not None:
        _raised(given.exc_type, given.exc_value, given.exc_traceback)
