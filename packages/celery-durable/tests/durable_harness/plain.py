"""Tasks that know nothing of the transport: how they are sent, and what their runs were told."""

from typing import Any

from durable_harness.broker import Broker

TASKS = "durable_harness.plain_tasks"


def send(broker: Broker, name: str, *args: Any, **options: Any) -> None:
    broker.app.send_task(f"{TASKS}.{name}", args=args, **options)


def ran(broker: Broker, task_id: str) -> list[tuple[int, int]]:
    """(deliveries, losses) as each run was told."""
    found = broker.query("SELECT facts FROM told WHERE task_id = %s ORDER BY id", task_id)
    return [(facts["deliveries"], facts["lost"]) for (facts,) in found]
