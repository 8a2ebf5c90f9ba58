"""Which worker pools are allowed and how large they are: a task keeps its delivery, so a process runs one job only."""

from typing import Any

from celery.concurrency import get_implementation
from celery.signals import celeryd_init, worker_init
from celery.utils.text import str_to_list

from app.domain.queues import ALL_QUEUES
from app.json_lines import refusal
from app.settings import load

#: Prefork and solo.  In the others, time limits do not work either (docs/broker-hazards.md H24).
ONE_AT_A_TIME = ("celery.concurrency.prefork", "celery.concurrency.solo")


@worker_init.connect
def refuse(sender: Any, **_: Any) -> None:
    """Refuse a pool that runs several jobs in one process.  Raises: SystemExit."""
    pool = get_implementation(sender.pool_cls)
    if pool.__module__ not in ONE_AT_A_TIME:
        name = pool.__module__.rpartition(".")[2]
        raise refusal(
            f"the worker pool {name!r} runs several jobs in one process, without time limits: use prefork or solo"
        )


@celeryd_init.connect
def size(conf: Any, options: dict[str, Any], **_: Any) -> None:
    """Give a node without `-c` as many processes as the settings of its queues say, not as the machine has."""
    queues = str_to_list(options.get("queues") or [])
    if not options.get("concurrency") and queues and set(queues) <= set(ALL_QUEUES):
        settings = load()
        conf.worker_concurrency = sum(settings.workers(queue) for queue in queues)
