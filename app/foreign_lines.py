"""Fields of the lines that libraries log through `logging`: of our own packages, of Celery, and what anybody adds."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, MutableMapping
from typing import Any

#: How our packages write a line: `event=renewal_failed error=%r`.
_EVENT = "event="
_FIELD = re.compile(r"(\w+)=(%[^\s%]*[a-z]|\S+)")
#: What every record has, and Celery's own, which holds the arguments of a task.
_USUAL = vars(logging.makeLogRecord({})).keys() | {"message", "asctime", "data"}


def add_fields(_logger: object, _method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Give a foreign line its fields; a processor of structlog, for records that it did not make."""
    record: logging.LogRecord = line["_record"]
    args = line.pop("positional_args", ())
    line.update((name, value) for name, value in vars(record).items() if name not in _USUAL)
    if isinstance(record.msg, str) and record.msg.startswith(_EVENT):
        line.update(_written(record.msg, args))
    elif isinstance(args, Mapping) and {"id", "name"} <= args.keys():
        line.update(_of_task(args))
    return line


def _written(template: str, args: Any) -> dict[str, Any]:
    """The fields of a line of our packages, with their values as they were before they became text."""
    values = iter(args if isinstance(args, tuple) else ())
    return {name: next(values, None) if said.startswith("%") else said for name, said in _FIELD.findall(template)}


def _of_task(facts: Mapping[str, Any]) -> dict[str, Any]:
    """What Celery says of a task, without its arguments and its result."""
    found = {"job_id": facts["id"], "task": facts["name"]}
    return found | ({"seconds": round(facts["runtime"], 4)} if isinstance(facts.get("runtime"), float) else {})
