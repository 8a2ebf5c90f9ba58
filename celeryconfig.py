"""Celery's settings, in Celery's own names.  H numbers: docs/broker-hazards.md.

Celery shows every public name of this module to whoever can send it `inspect conf`: none may hold a secret.
"""

from datetime import timedelta as _timedelta

from celery_durable import hide as _hide  # and registers the durable transport
from kombu import Exchange as _Exchange
from kombu import Queue as _Queue

from app.database import database_url as _database_url
from app.database import direct_url as _direct_url
from app.domain.queues import ALL_QUEUES as _ALL_QUEUES
from app.domain.queues import MAINTENANCE as _MAINTENANCE
from app.domain.queues import check_queue_names as _check_queue_names
from app.errors import BadSetting as _BadSetting
from app.json_lines import refusal as _refusal
from app.settings import load as _load

try:
    _settings = _load()
except _BadSetting as _bad:  # one line, where Celery would print its own stack
    raise _refusal(_bad.detail) from None
_check_queue_names()

broker_url = "durable+" + _hide(_database_url(_settings))
broker_transport_options = {
    "lease_seconds": _settings.lease_seconds,
    "heartbeat_seconds": _settings.heartbeat_seconds,
    **({"direct_url": _hide(_direct)} if (_direct := _direct_url(_settings)) else {}),
}
broker_connection_retry_on_startup = True
broker_connection_max_retries = None  # a database that is away comes back; the default gives up and exits (H25)
broker_heartbeat = 0  # TCP and the node's lock tell; AMQP heartbeats are not spoken here

task_queues = [_Queue(name, _Exchange(name, type="direct"), routing_key=name) for name in _ALL_QUEUES]
task_default_queue = "analysis_default"
task_create_missing_queues = False  # the queues are rows of migrations, not a side effect of a typo

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
_limits = {
    "tasks.analysis.analyse": _settings.analysis_time_limit.total_seconds(),
    "tasks.analysis.look": _settings.analysis_time_limit.total_seconds(),
    "tasks.specification.specify": _settings.spec_time_limit.total_seconds(),
    # it stops by itself before, so that the next hour's run finds the process free
    "tasks.maintenance.reschedule": _timedelta(minutes=59).total_seconds(),
    "tasks.maintenance.prune": _settings.maintenance_time_limit.total_seconds(),
    "tasks.maintenance.reconcile": _settings.maintenance_time_limit.total_seconds(),
}
task_annotations = {
    task: {"time_limit": limit, "soft_time_limit": max(limit * 0.9, limit - 30)} for task, limit in _limits.items()
}

worker_prefetch_multiplier = 1
# A process that had much keeps some of it, and the next job would pay for it (tasks/heartbeat.py).
worker_max_memory_per_child = _settings.job_memory_mb * 768  # KiB, the most that it ever had: three quarters
# A child connects to the database before it says that it is up, which takes 5 s where a host has vanished; Celery kills
# it after four, and its successors (H37).
worker_proc_alive_timeout = 60.0
worker_enable_remote_control = True  # `revoke` cancels the job, see tasks/celery_requests.py
worker_send_task_events = False  # `celery control enable_events`, or Flower, turns them on
worker_hijack_root_logger = False
worker_soft_shutdown_timeout = _settings.shutdown_grace.total_seconds()  # of warm stops too (tasks/stopping.py)
worker_cancel_long_running_tasks_on_connection_loss = False  # the fence decides, not the connection

enable_utc = True
timezone = "UTC"

imports = (
    "tasks.analysis",
    "tasks.specification",
    "tasks.maintenance",
    "tasks.webhooks",
    "tasks.lending",
    "tasks.pools",
    "tasks.schema",
    "tasks.alive",
    "tasks.draining",
    "tasks.log_context",
)
beat_scheduler = "tasks.scheduler:PgScheduler"
beat_max_loop_interval = 5
beat_schedule = {
    "reschedule": {"task": "tasks.maintenance.reschedule", "schedule": _timedelta(hours=1), "queue": _MAINTENANCE},
    "prune": {
        "task": "tasks.maintenance.prune",
        "schedule": _timedelta(days=1),
        "offset": _timedelta(hours=3),  # UTC
        "queue": _MAINTENANCE,
    },
    "reconcile": {
        "task": "tasks.maintenance.reconcile",
        "schedule": _timedelta(days=1),
        "offset": _timedelta(hours=3, minutes=30),  # UTC
        "queue": _MAINTENANCE,
    },
    "sweep": {"task": "tasks.maintenance.sweep", "schedule": _timedelta(minutes=5)},
}
