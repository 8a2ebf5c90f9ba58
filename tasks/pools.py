"""Which worker pools are allowed: a task stores its delivery on itself, so its process may run only one job."""

from typing import Any

from celery.concurrency import get_implementation
from celery.signals import worker_init

#: Prefork and solo.  In the others, time limits do not work either (docs/broker-hazards.md H24).
ONE_AT_A_TIME = ("celery.concurrency.prefork", "celery.concurrency.solo")


@worker_init.connect
def refuse(sender: Any, **_: Any) -> None:
    """Refuse a pool that runs several jobs in one process.  Raises: SystemExit."""
    pool = get_implementation(sender.pool_cls)
    if pool.__module__ not in ONE_AT_A_TIME:
        name = pool.__module__.rpartition(".")[2]
        raise SystemExit(
            f"the worker pool {name!r} runs several jobs in one process, without time limits: use prefork or solo"
        )
