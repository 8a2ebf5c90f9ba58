"""Log lines as JSON where no logger can be used: of the supervisor, and of handlers of signals."""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime

from app import environment
from app.errors import BadSetting

_FORMAT = "log_format"


def are_wanted() -> bool:
    """Whether LOG_FORMAT is json, before the settings are read or although they are wrong."""
    try:
        return environment.given((_FORMAT,), os.environ).get(_FORMAT) == "json"
    except BadSetting:
        return False


def json_line(event: str, *, level: str = "info", logger: str, **fields: object) -> bytes:
    """One line, with its end, and with the members that every line has."""
    now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    line = {"event": event, **fields, "level": level, "logger": logger, "timestamp": now}
    return json.dumps(line, default=str).encode() + b"\n"


def refusal(detail: str) -> SystemExit:
    """The end of a process that cannot start, to be raised: one line on stderr that says why."""
    if not are_wanted():
        return SystemExit(f"fairlane: {detail}")
    sys.stderr.flush()
    os.write(sys.stderr.fileno(), json_line("cannot_start", level="critical", logger="fairlane", reason=detail))
    return SystemExit(1)
