"""The Celery app of every broker that is compared: same settings, same jobs."""

import os

import billiard.pool
from celery import Celery
from kombu.transport import TRANSPORT_ALIASES

from durable_bench.clients import mark

URL = os.environ["BENCH_URL"]
if URL.startswith("durable"):
    import celery_durable  # noqa: F401  registers the transport
#: A node of any broker that is stopped amid a full queue waits 30 s for results that nobody reads any more.
billiard.pool.GUARANTEE_MESSAGE_CONSUMPTION_RETRY_LIMIT = 10
#: By the system's variant.  PGMQ comes with its client as plain SQL, which `setup` installs.
TRANSPORT_OPTIONS = {
    "confirms": {"confirm_publish": True},
    "pgmq": {"init_extension": False},
    "pgmq-notify": {"init_extension": False, "use_notify": True, "wait_time_seconds": 0},
}
TRANSPORT_ALIASES["nobroker"] = "durable_bench.clients.nobroker:Transport"

app = Celery("bench", broker=URL)
app.conf.update(
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_ignore_result=True,
    worker_enable_remote_control=False,
    worker_prefetch_multiplier=int(os.environ["BENCH_MULTIPLIER"]),
    broker_connection_retry_on_startup=True,
    broker_transport_options=TRANSPORT_OPTIONS.get(os.environ["BENCH_VARIANT"], {}),
)


@app.task(name="nothing")
def nothing() -> None:
    """Leave one byte."""
    mark.nothing()


@app.task(name="stamp")
def stamp(sent: float) -> None:
    """Leave the seconds since it was sent."""
    mark.stamp(sent)


@app.task(name="hold")
def hold(job: str) -> None:
    """Say that it started, and stay busy."""
    mark.hold(job)
