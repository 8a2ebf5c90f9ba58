"""Let idle workers of a priority queue take jobs of the service's default queue (docs/adr/0028)."""

from typing import Any

import structlog
from celery.signals import celeryd_after_setup

from app.domain.queues import lent_to
from app.settings import load

log = structlog.get_logger(__name__)


@celeryd_after_setup.connect
def lend(instance: Any, conf: Any, **_: Any) -> None:
    """If a node reads a priority queue, let its spare processes read the default queue too."""
    settings, queues = load(), instance.app.amqp.queues
    lent = [queue for queue in map(lent_to, queues.consume_from) if queue and queue not in queues.consume_from]
    if not settings.queue_lending or not lent:
        return
    floor = settings.queue_lending_floor or -(-instance.concurrency // 2)
    conf.broker_transport_options = conf.broker_transport_options | {"spare_queues": dict.fromkeys(lent, floor)}
    for queue in lent:
        queues.select_add(queue)
    log.info("lending", queues=lent, processes=max(0, instance.concurrency - floor), floor=floor)
