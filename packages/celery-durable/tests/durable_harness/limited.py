"""A queue with limits, in SQL: what is published, claimed and waits; and time that passes at once."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from durable_harness.turns import Turns

PUBLISH = "SELECT durable_publish(%s, %s, %s, %s, NULL, NULL, %s, %s, NULL, %s)"
LIMIT = "SELECT broker_limit('main', %(rate)s, %(task)s, %(tenant)s, %(per_tenant)s, %(burst)s)"
WAITING = """
    SELECT m.task_id FROM durable_waiting AS w JOIN durable_message AS m USING (id)
     WHERE w.reason = 'limited' ORDER BY w.line, w.rank, w.id"""
POLL = "SELECT durable_poll('{main,other}', NULL, true, NULL, 4)"
#: A claim in Turns leases for so long.
LEASE = "900 s"


class Limited(Turns):
    """Messages of task `t` and tenant `''` unless they are said to be others'."""

    def limit(self, rate: str, burst: int = 1, **of: Any) -> None:
        self.run(LIMIT, {"task": None, "tenant": None, "per_tenant": False, "rate": rate, "burst": burst, **of})

    def send(
        self, *ids: str, task: str = "t", tenant: str | None = None, priority: int | None = None, step: int = 100,
        queue: str = "main", body: str | None = None,
    ) -> None:  # fmt: skip
        payload = json.dumps({"body": "", "headers": {"task": task}}) if body is None else body
        for one in ids:
            self.run(PUBLISH, (queue, payload, one, tenant, step, queue, priority))

    def waiting(self) -> list[str]:
        """In the order of their lines."""
        return [task for (task,) in self.run(WAITING)]

    def ready(self) -> list[str]:
        return [
            task for (task,) in self.run("SELECT m.task_id FROM durable_ready JOIN durable_message AS m USING (id)")
        ]

    def later(self, seconds: float) -> None:
        """All that limits know is so much older."""
        by = f"interval '{seconds} s'"
        self.run(f"UPDATE durable_line SET next_at = next_at - {by}, wake_at = wake_at - {by}")

    def poll(self) -> None:
        self.run(POLL)

    def starts(self) -> list[datetime]:
        """When what is leased was claimed."""
        return [at for (at,) in self.run(f"SELECT until - interval '{LEASE}' FROM durable_lease ORDER BY until")]

    def astray(self) -> list[Any]:
        """Messages that do not stand in exactly one place."""
        return self.run("""
            SELECT m.id, count(s.id) FROM durable_message AS m FULL JOIN (
                   SELECT id FROM durable_ready UNION ALL SELECT id FROM durable_lease
                   UNION ALL SELECT id FROM durable_waiting) AS s ON s.id = m.id
             GROUP BY m.id HAVING count(s.id) <> 1 OR m.id IS NULL""")


def too_many(starts: list[datetime], rate: float, burst: int) -> list[tuple[datetime, datetime, int]]:
    """The spans of time with more starts than rate * seconds + burst + 1."""
    return [
        (begin, end, later + 1)
        for number, begin in enumerate(starts)
        for later, end in enumerate(starts[number:])
        if later + 1 > rate * (end - begin).total_seconds() + burst + 1.001
    ]
