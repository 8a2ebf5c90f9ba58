"""Drain this node by remote control: it takes no more messages until it is told to take them again."""

import os
import socket
from collections.abc import Sequence
from typing import Any

import structlog
from celery.worker.control import control_command

log = structlog.get_logger(__name__)

#: The queues that this node has left, in their order.
_left: list[str] = []


@control_command(variadic="nodes", signature="[HOST:PID … HOST:PID]")
def drain(state: Any, nodes: Sequence[str], **_: Any) -> None:
    """Take no more messages; give back what has not begun, and let the rest end.  nodes: as operators see them."""
    if _own_name() in nodes:
        state.consumer.call_soon(_leave, state.consumer)


@control_command(variadic="nodes", signature="[HOST:PID … HOST:PID]")
def undrain(state: Any, nodes: Sequence[str], **_: Any) -> None:
    """Take messages again, from the queues of before."""
    if _own_name() in nodes:
        state.consumer.call_soon(_come_back, state.consumer)


def _leave(consumer: Any) -> None:
    queues = [queue.name for queue in consumer.task_consumer.queues]
    for queue in queues:
        consumer.cancel_task_queue(queue)
    _left.extend(queues)
    log.info("drains", queues=queues)


def _come_back(consumer: Any) -> None:
    queues = _left.copy()
    _left.clear()
    for queue in queues:
        consumer.add_task_queue(queue)
    log.info("undrained", queues=queues)


def _own_name() -> str:
    """The broker's name of this node, which its pages and commands show."""
    return f"{socket.gethostname()}:{os.getpid()}"
