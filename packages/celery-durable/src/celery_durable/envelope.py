"""A kombu message on its way into a row, and a row on its way out to a consumer."""

import base64
import json
from collections.abc import Mapping, MutableMapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from .celery_worker import running_lease
from .database import Row
from .names import PROBE_SECONDS

#: Headers that belong to one delivery: added to it, taken off again when the task is published again.
OF_DELIVERY = (
    "lease_token", "lease_task", "delivery_count", "retry_count", "snooze_count", "lost_count", "requested_eta",
    "snooze", "park",
)  # fmt: skip
_NO_MARKS: Mapping[str, Any] = dict.fromkeys(OF_DELIVERY)

#: Of a message of weight 1; see sql/publish.sql.
STEP = 100

#: json.dumps makes a new encoder for each call.
_encode = json.JSONEncoder(default=str, separators=(",", ":")).encode

#: Of ids, tasks and tenants: what a page of an index holds.
LONGEST_NAME = 500

#: What a publish hands to the database, in its order there, and the types: the first fields of a Letter, and the hint.
COLUMNS: Mapping[str, str] = {
    "queue": "text", "payload": "text", "task_id": "text", "tenant": "text", "unique_key": "text", "delay": "float8",
    "step": "int", "hint": "text", "most_ready": "int", "priority": "int",
}  # fmt: skip
_HINT = list(COLUMNS).index("hint")
_FIELDS = len(COLUMNS) - 1

Raw = dict[str, Any]


class Letter(NamedTuple):
    """A message to store.

    delay: seconds from now, None for none; step: how far its rank is behind its tenant's last one; most_ready: of its
    tenant, before that is parked; priority: 0 to 9, which of its tenant's messages comes first; lease_token: the
    delivery it retries; snooze, park: how that retry counts and waits.
    """

    queue: str
    payload: str
    task_id: str | None
    tenant: str | None
    unique_key: str | None
    delay: float | None
    step: int
    most_ready: int | None = None
    priority: int = 0
    lease_token: str | None = None
    snooze: bool = False
    park: bool = False
    is_retry: bool = False
    replaces: bool = False

    @property
    def hint(self) -> str:
        """The notification."""
        return self.queue if self.delay is None else f"{self.queue}\t{self.delay:.3f}"

    def to_publish(self) -> tuple[Any, ...]:
        """The parameters of the statement PUBLISH."""
        return (*self[:_HINT], self.hint, *self[_HINT:_FIELDS])

    def parameters(self) -> dict[str, Any]:
        """The parameters of the statements IN_THE_WAY, RETRY and ADD_QUEUE."""
        return {**self._asdict(), "hint": self.hint, "seconds": self.delay or PROBE_SECONDS}


def letter(message: Mapping[str, Any], queue: str) -> Letter:
    """The row for a kombu message as `prepare_message` made it."""
    headers = dict(message["headers"] or {})
    properties = dict(message["properties"])
    marks = _NO_MARKS
    if not marks.keys().isdisjoint(headers):
        marks = {name: headers.pop(name, None) for name in OF_DELIVERY}
    park = bool(properties.pop("park", None) or marks["park"])
    snooze = bool(properties.pop("snooze", None) or marks["snooze"] or park)
    task_id = _task_id(headers, properties)
    # A task may hand its own headers on to another task: the token is good for the task it was given to.
    foreign = marks["lease_task"] not in (None, task_id)
    token, ended = running_lease(task_id)
    return Letter(
        queue=queue,
        payload=_dump({**message, "headers": headers, "properties": properties}),
        task_id=task_id,
        delay=_delay(headers.get("eta")),
        lease_token=None if ended else (None if foreign else marks["lease_token"]) or token,
        snooze=snooze,
        park=park,
        is_retry=bool(headers.get("retries")),
        replaces=ended or bool(headers.get("replaced_task_nesting")),
        priority=_priority(properties.get("priority")),
        **addressed(headers),
    )


def addressed(headers: Mapping[str, Any]) -> dict[str, Any]:
    """What headers say of a Letter: tenant, unique_key, step and most_ready.  Raises ValueError."""
    tenant, key = headers.get("tenant"), headers.get("unique_key")  # not "group", which is canvas's
    return {
        "tenant": None if tenant is None else str(tenant),
        "unique_key": None if key is None else str(key),
        "step": _step(headers.get("weight")),
        "most_ready": _most_ready(headers.get("most_ready")),
    }


def _task_id(headers: Mapping[str, Any], properties: Mapping[str, Any]) -> str | None:
    """Protocol 2 has it in a header, protocol 1 as correlation id; a reply has that too, but no `reply_to`."""
    found = headers.get("id") or (properties.get("correlation_id") if properties.get("reply_to") else None)
    return None if found is None else str(found)


def _delay(eta: str | None) -> float | None:
    """Seconds from now until `eta`, by the clock that made it: the database counts them from its own.

    Celery turns every countdown into an `eta` by the publisher's clock.  As a difference a countdown stays exact
    however wrong that clock is; an absolute eta shifts by its error.
    """
    if not eta:
        return None
    due = datetime.fromisoformat(eta)
    seconds = ((due if due.tzinfo else due.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds()
    return seconds if seconds > 0 else None


def _priority(given: Any) -> int:
    """Read it as kombu does: from 0 to 9, what is beyond is as the nearest, and what is no number is 0."""
    try:
        return max(0, min(9, int(given)))
    except (TypeError, ValueError, OverflowError):
        return 0


def _step(weight: float | None) -> int:
    """How far a message moves its group in the fair order.  Raises ValueError."""
    if weight is None:
        return STEP
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0.001 <= weight <= 100:
        raise ValueError(f"header 'weight' must be a number from 0.001 to 100, not {weight!r}")
    return round(STEP / weight)


def _most_ready(number: int | None) -> int | None:
    """Raises ValueError."""
    if number is not None and (type(number) is not int or number < 1):
        raise ValueError(f"header 'most_ready' must be an integer above 0, not {number!r}")
    return number


def _check(headers: Mapping[str, Any]) -> None:
    """What Celery takes on trust, and would leave behind half done.  Raises ValueError, TypeError."""
    for name in ("id", "task"):
        if not isinstance(headers.get(name), str) or len(headers[name]) > LONGEST_NAME:
            raise ValueError(f"header {name!r} must be a string of at most {LONGEST_NAME} characters")
    if headers.get("eta") is not None:
        datetime.fromisoformat(headers["eta"])
    limits = headers.get("timelimit") or [None, None]
    if len(limits) != 2 or not all(limit is None or isinstance(limit, int | float) for limit in limits):
        raise ValueError(f"header 'timelimit' must be two numbers of seconds, not {limits!r}")


def _dump(message: MutableMapping[str, Any]) -> str:
    """JSON with a readable body; only bytes need base64.  What a stock consumer reads, too."""
    body, properties = message["body"], message["properties"]
    if isinstance(body, str):
        properties["body_encoding"] = "utf-8"
    else:
        properties["body_encoding"] = "base64"
        message["body"] = base64.b64encode(body or b"").decode()
    return _encode(message)


def delivery(row: Row, queue: str) -> Raw:
    """The message a consumer gets for a claimed row.  Raises for a payload that is none of a kombu message.

    row: (id, token, payload, deliveries, retries, snoozes, losses, rank)
    """
    row_id, token, payload, deliveries, retries, snoozes, losses, _ = row
    message: Raw = json.loads(payload)
    headers, properties = message["headers"], message["properties"]
    if "task" in headers:
        _check(headers)
    # Celery would hold a message with an eta back once more, in memory, when its clock is behind the database's.
    headers["requested_eta"], headers["eta"] = headers.get("eta"), None
    headers |= {
        "lease_token": token, "lease_task": headers.get("id"), "delivery_count": deliveries,
        "retry_count": retries, "snooze_count": snoozes, "lost_count": losses,
    }  # fmt: skip
    properties["delivery_tag"] = f"{row_id}:{token}"
    info = properties.setdefault("delivery_info", {})
    info.setdefault("exchange", "")
    info.setdefault("routing_key", queue)
    info["redelivered"] = deliveries > 1 + retries + snoozes
    return message
