"""What each line and the span of a running task carry: job, queue, tenant, and the request that it comes from."""

from typing import Any

from celery.signals import task_postrun, task_prerun, worker_process_init
from structlog.contextvars import bind_contextvars, clear_contextvars

from app import origins, telemetry
from app.origins import Origin


@task_prerun.connect
def bind(task: Any, kwargs: Any = None, **_: Any) -> None:
    """Work for the origin that the message names, or for a new one."""
    request = task.request
    origin = Origin.of_message(request.get("request_id"), request.get("traceparent"))
    facts = {"task": task.name, "attempt": _attempt(request), "tenant": (kwargs or {}).get("user_id")}
    queue = (request.delivery_info or {}).get("routing_key")
    clear_contextvars()
    known = {"job_id": request.id, "queue": queue, **facts}
    bind_contextvars(**{name: fact for name, fact in known.items() if fact is not None})
    origins.enter(origin)
    if telemetry.spans is not None:
        facts |= {"delivery": request.get("delivery_count"), "request_id": origin.request_id}
        telemetry.spans.attempt_began(str(queue), request.id, origin, facts)


@task_postrun.connect
def release(state: str, **_: Any) -> None:
    """End it."""
    if telemetry.spans is not None:
        telemetry.spans.attempt_ended(state)
    clear_contextvars()
    origins.enter(None)


@worker_process_init.connect
def begin_spans(**_: Any) -> None:
    """Each process of the pool exports its own."""
    telemetry.begin("worker")


def _attempt(request: Any) -> int:
    """Count from 1, as Delivery does."""
    return int(request.get("retry_count") or 0) + int(request.get("lost_count") or 0) + 1
