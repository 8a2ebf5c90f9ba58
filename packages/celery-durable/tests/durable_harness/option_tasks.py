"""Tasks for the tests of what Celery documents, in a worker started with `-I durable_harness.option_tasks`.

Every run tells what it saw in a row of `told`.
"""

import json
import os
import signal
import time
from typing import Any

import psycopg2
from celery import group
from celery.exceptions import Ignore, Reject, SoftTimeLimitExceeded
from psycopg2.extras import Json

from durable_harness.worker_app import app, write

app.conf.broker_transport_options = {
    **app.conf.broker_transport_options,
    **json.loads(os.environ.get("BROKER_TEST_OPTIONS", "{}")),
}


def tell(task: Any, what: str, **facts: Any) -> None:
    write("INSERT INTO told (task_id, what, facts) VALUES (%s, %s, %s)", (task.request.id, what, Json(facts)))


@app.task(bind=True)
def report(self: Any, *args: Any, **kwargs: Any) -> Any:
    request = self.request
    tell(
        self, "ran", args=args, kwargs=kwargs, mine=request.get("mine"), retries=request.retries, pid=os.getpid(),
        token=request.lease_token, priority=request.delivery_info.get("priority"), deliveries=request.delivery_count,
        redelivered=request.delivery_info["redelivered"], at=time.time(),
    )  # fmt: skip
    return args[0] if args else None


@app.task(bind=True)
def tells_in_the_end(self: Any) -> None:
    """However long the database is away."""
    while True:
        try:
            return tell(self, "ran")
        except psycopg2.OperationalError:
            time.sleep(0.05)


@app.task(bind=True)
def sleeps(self: Any, seconds: float) -> None:
    tell(self, "start", deliveries=self.request.delivery_count)
    time.sleep(seconds)
    tell(self, "end")


@app.task(bind=True, acks_late=False)
def early(self: Any, seconds: float) -> None:
    tell(self, "start")
    time.sleep(seconds)
    tell(self, "end")


@app.task(bind=True, acks_late=False)
def early_again(self: Any, how: str, seconds: float) -> None:
    """Once more, when its acknowledgement is written or is not."""
    tell(self, "ran", retries=self.request.retries)
    if how == "end" or self.request.retries:
        return
    time.sleep(seconds)
    if how == "retry":
        raise self.retry(countdown=0)
    self.replace(early_again.s("end", 0))


@app.task(bind=True, max_retries=2)
def retried(self: Any, times: int, **options: Any) -> None:
    tell(self, "ran", mine=self.request.get("mine"), retries=self.request.retries, shadow=self.request.shadow,
         priority=self.request.delivery_info["priority"])  # fmt: skip
    if self.request.retries < times:
        raise self.retry(countdown=0, exc=KeyError("worn out"), **options)


@app.task(bind=True, autoretry_for=(ValueError,), retry_backoff=1, retry_jitter=False, max_retries=1)
def autoretried(self: Any) -> None:
    tell(self, "ran", retries=self.request.retries)
    raise ValueError("again")


@app.task(bind=True)
def fails(self: Any) -> None:
    tell(self, "ran")
    raise ValueError("no")


@app.task(bind=True, acks_on_failure_or_timeout=False)
def fails_unacknowledged(self: Any) -> None:
    tell(self, "ran")
    raise ValueError("no")


def _die_once(task: Any) -> None:
    tell(task, "ran", retries=task.request.retries, deliveries=task.request.delivery_count)
    if task.request.delivery_count == 1:
        os.kill(os.getpid(), signal.SIGKILL)


@app.task(bind=True, reject_on_worker_lost=True)
def dies_and_comes_back(self: Any) -> None:
    _die_once(self)


@app.task(bind=True, reject_on_worker_lost=False)
def dies_for_good(self: Any) -> None:
    _die_once(self)


@app.task(bind=True, reject_on_worker_lost=False, retry_on_worker_lost=True, default_retry_delay=0)
def dies_and_is_retried(self: Any) -> None:
    _die_once(self)


@app.task(bind=True)
def minds_the_limit(self: Any) -> None:
    try:
        time.sleep(20)
    except SoftTimeLimitExceeded:
        tell(self, "told to stop")


def _stick_once(task: Any) -> None:
    tell(task, "ran", deliveries=task.request.delivery_count)
    if task.request.delivery_count == 1:
        time.sleep(20)


@app.task(bind=True)
def stuck(self: Any) -> None:
    _stick_once(self)


@app.task(bind=True, acks_on_failure_or_timeout=False)
def stuck_unacknowledged(self: Any) -> None:
    _stick_once(self)


@app.task(bind=True, rate_limit="10/s")
def limited(self: Any) -> None:
    tell(self, "ran", at=time.time())


@app.task(bind=True)
def rejects(self: Any, *, requeue: bool) -> None:
    tell(self, "ran", deliveries=self.request.delivery_count)
    if self.request.delivery_count < 3:
        raise Reject("not now", requeue=requeue)


@app.task(bind=True)
def ignores(self: Any) -> None:
    tell(self, "ran")
    raise Ignore


@app.task(bind=True)
def hands_its_headers_on(self: Any, other: str) -> None:
    tell(self, "ran", token=self.request.lease_token)
    report.apply_async(args=("handed on",), task_id=other, headers=self.request.headers)


@app.task(bind=True, ignore_result=False)
def add(self: Any, *numbers: int) -> int:
    tell(self, "ran")
    return sum(numbers)


@app.task(bind=True, ignore_result=False)
def total(self: Any, numbers: list[int]) -> int:
    tell(self, "ran")
    return sum(numbers)


@app.task(bind=True, ignore_result=False)
def breaks(self: Any, *_: Any) -> None:
    tell(self, "ran")
    raise ValueError("broken link")


@app.task(bind=True, ignore_result=False)
def retried_add(self: Any, *numbers: int) -> int:
    tell(self, "ran")
    if not self.request.retries:
        raise self.retry(countdown=0)
    return sum(numbers)


@app.task(bind=True, ignore_result=False)
def replaced(self: Any, how: str) -> Any:
    """By 3, whichever way."""
    tell(self, "replaced", how=how)
    ways = {"one": add.s(1, 2), "chain": add.s(1) | add.s(2), "chord": group([add.s(1), add.s(2)]) | total.s()}
    return self.replace(ways[how])
