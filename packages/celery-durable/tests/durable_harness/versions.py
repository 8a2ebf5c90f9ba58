"""What older versions of Celery and kombu lack: `make prove-versions` runs the tests with each."""

from contextlib import AbstractContextManager, nullcontext
from inspect import signature
from typing import Any

import pytest
from celery import VERSION, Task
from celery.worker.request import Request
from kombu import VERSION as KOMBU
from kombu import Connection, Producer

#: Celery gives back what a task kept for itself at its hard limit; before, it rejects that for good.
REQUEUES_AT_LIMIT = VERSION >= (5, 5)

#: Before kombu 5.7 the bucket of a rate limit lets two tasks begin at once.
SPREADS_ALL_STARTS = KOMBU >= (5, 7)

needs_batches = pytest.mark.skipif(not hasattr(Producer, "batch"), reason="kombu 5.7 brought Producer.batch")
needs_credential_provider = pytest.mark.skipif(
    "credential_provider" not in signature(Connection).parameters, reason="kombu 5.6 brought credential_provider"
)
needs_retry_on_worker_lost = pytest.mark.skipif(
    not hasattr(Task, "retry_on_worker_lost"), reason="Celery 5.7 brought retry_on_worker_lost"
)
needs_requeue_at_limit = pytest.mark.skipif(
    not REQUEUES_AT_LIMIT,
    reason="before Celery 5.5 a task that is not acknowledged at its hard limit is rejected for good",
)
needs_exits_that_are_losses = pytest.mark.skipif(
    not hasattr(Request, "_worker_lost_info"), reason="before Celery 5.7 a task that calls sys.exit has failed"
)


def batch(producer: Any) -> AbstractContextManager[Any]:
    """kombu's batch, for tests that are about something else; one by one where there is none."""
    return producer.batch() if hasattr(producer, "batch") else nullcontext()
