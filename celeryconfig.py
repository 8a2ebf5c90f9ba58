"""Celery's settings, in Celery's own names.  H numbers: docs/broker-hazards.md."""

from datetime import timedelta

from kombu import Exchange, Queue

import tasks.broker  # noqa: F401  registers the durable transport
from app.database import database_url, direct_url
from app.domain.queues import ALL_QUEUES, check_queue_names
from app.settings import load

settings = load()
check_queue_names()

broker_url = "durable+" + database_url(settings)
broker_transport_options = {
    "lease_seconds": settings.lease_seconds,
    "heartbeat_seconds": settings.heartbeat_seconds,
    **({"direct_url": url} if (url := direct_url(settings)) else {}),
}
broker_connection_retry_on_startup = True
broker_connection_max_retries = None  # a database that is away comes back; the default gives up and exits (H25)
broker_heartbeat = 0  # TCP and the node's lock tell; AMQP heartbeats are not spoken here

task_queues = [Queue(name, Exchange(name, type="direct"), routing_key=name) for name in ALL_QUEUES]
task_default_queue = "analysis_default"
task_create_missing_queues = False  # the six queues are rows of a migration, not a side effect of a typo

accept_content = ["json"]  # pickle would run what anybody with INSERT writes (H29)
task_serializer = "json"
task_ignore_result = True  # results are our own tables (H28)
task_acks_late = True
task_reject_on_worker_lost = True
# An attempt that fails is re-scheduled or ended by our own commit; nothing is acknowledged because it raised.
task_acks_on_failure = False
task_acks_on_timeout = False
task_publish_retry = False  # a publish is part of a transaction, which only its owner may run again (H1)

# The soft limit ends the attempt in our own commit; the hard one is for code that cannot be stopped (H24).
_limit = settings.analysis_time_limit.total_seconds()
task_annotations = {
    "tasks.analysis.analyse": {"time_limit": _limit, "soft_time_limit": max(_limit * 0.9, _limit - 30)},
}

worker_prefetch_multiplier = 1
worker_enable_remote_control = True  # `revoke` cancels the job, see tasks/requests.py
worker_send_task_events = False  # `celery control enable_events`, or Flower, turns them on
worker_hijack_root_logger = False
worker_soft_shutdown_timeout = 5.0
worker_cancel_long_running_tasks_on_connection_loss = False  # the fence decides, not the connection

enable_utc = True
timezone = "UTC"

imports = ("tasks.analysis", "tasks.maintenance", "tasks.lending")
beat_scheduler = "tasks.scheduler:PgScheduler"
beat_max_loop_interval = 5
beat_schedule = {
    "reschedule": {"task": "tasks.maintenance.reschedule", "schedule": timedelta(hours=1)},
    "reconcile": {
        "task": "tasks.maintenance.reconcile",
        "schedule": timedelta(days=1),
        "offset": timedelta(hours=3, minutes=30),  # UTC
    },
    "sweep": {"task": "tasks.maintenance.sweep", "schedule": timedelta(minutes=5)},
}
