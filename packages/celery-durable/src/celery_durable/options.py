"""The transport's options, checked once."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any

from .errors import BadOption

#: kombu and Celery put these into every transport's options.
OF_KOMBU = frozenset({
    "callback", "client_properties", "confirm_publish", "confirm_timeout", "errback", "interval_max", "interval_start",
    "interval_step", "max_retries", "polling_interval", "retry_errors",
})  # fmt: skip
#: What other transports need for priorities -> what is here in its place.
FOR_PRIORITIES = {
    "priority_steps": "each queue has the priorities 0 to 9, and 9 comes first",
    "queue_order_strategy": "priorities work without it, and the order of queues is 'queue_order'",
}
_IDENTIFIER = re.compile(r"[a-z_][a-z0-9_]{0,40}")
ORDERS = ("round_robin", "strict")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """`broker_transport_options`; durations are seconds."""

    #: A delivery is lost when its node has not renewed it for so long.
    lease_seconds: float = 15.0
    #: How often a node renews what it holds; at most a third of the lease.
    heartbeat_seconds: float = 3.0
    #: The net below NOTIFY: an idle node looks at the tables this often.
    poll_seconds: float = 5.0
    #: A message whose worker died this many times goes to the dead letters.
    max_deliveries: int = 5
    #: Several queues: `round_robin` shares the window, `strict` empties them in the order of `-Q`.
    queue_order: str = "round_robin"
    #: {queue: so many of its window a node keeps free of it}: what a node reads only with what it has to spare, after
    #: its other queues; one that reads no other reads it as any.
    spare_queues: tuple[tuple[str, int], ...] = ()
    #: A dead letter is dropped after so many days; None: never.  Of the values of several nodes the lowest counts.
    dead_letter_days: float | None = 90.0
    #: False behind a pooler without sessions: no LISTEN and no lock; wake-up by poll, rescue by lease expiry.
    listen: bool = True
    #: A URL that reaches PostgreSQL itself, for the node's own session, when the broker URL leads to a pooler.  User
    #: and password may be left out when they are the broker URL's; Celery prints its settings: give it as `hide` does.
    direct_url: str | None = None
    #: Of the tables; None: the first one of the connection's search path.  Two brokers in one database have one each.
    schema: str | None = None

    def __post_init__(self) -> None:
        for name in ("lease_seconds", "heartbeat_seconds", "poll_seconds"):
            _require(_is_number(getattr(self, name)) and getattr(self, name) > 0, name, "a number of seconds above 0")
        _require(
            self.heartbeat_seconds * 3 <= self.lease_seconds,
            "heartbeat_seconds",
            f"at most a third of lease_seconds ({self.lease_seconds:g})",
        )
        _require(type(self.max_deliveries) is int and self.max_deliveries > 0, "max_deliveries", "an integer above 0")
        _require(
            self.dead_letter_days is None or (_is_number(self.dead_letter_days) and self.dead_letter_days > 0),
            "dead_letter_days",
            "a number of days above 0, or None",
        )
        _require(self.queue_order in ORDERS, "queue_order", " or ".join(ORDERS))
        _require(type(self.listen) is bool, "listen", "True or False")
        _require(
            all(isinstance(queue, str) and type(kept) is int and kept >= 0 for queue, kept in self.spare_queues),
            "spare_queues",
            "a dict of queue names and integers of 0 or more",
        )
        _require(
            self.schema is None or bool(_IDENTIFIER.fullmatch(str(self.schema))), "schema", "a lower-case schema name"
        )

    @property
    def channel(self) -> str:
        """Where nodes listen; one for each schema, so that two brokers in one database do not meet."""
        return "kombu_message" if self.schema is None else f"{self.schema}_kombu_message"


def read_options(given: Mapping[str, Any]) -> Options:
    """Raises BadOption, with the nearest known name for an unknown one."""
    known = {field.name for field in fields(Options)}
    for name in given:
        if name not in known and name not in OF_KOMBU:
            raise BadOption(f"unknown broker transport option {name!r}; {_hint(name, known)}")
    chosen = {name: value for name, value in given.items() if name in known}
    if "spare_queues" in chosen:
        spare = chosen["spare_queues"]
        _require(isinstance(spare, Mapping), "spare_queues", "a dict of queue names and integers of 0 or more")
        chosen["spare_queues"] = tuple(sorted(spare.items()))
    return Options(**chosen)


def _hint(name: str, known: set[str]) -> str:
    if name in FOR_PRIORITIES:
        return FOR_PRIORITIES[name]
    near = get_close_matches(name, known, 1)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(known))}"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _require(holds: object, name: str, allowed: str) -> None:
    if not holds:
        raise BadOption(f"broker transport option {name!r} must be {allowed}")
