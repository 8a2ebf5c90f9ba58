"""Make `celery control revoke` and `terminate` cancel the jobs they name, waiting or running, on any node.

Celery itself only remembers the ids in case they are delivered later; running tasks continue.
"""

import threading
from collections.abc import Iterable
from typing import Any
from uuid import UUID

import structlog
from celery.worker import control

from app.database import database_url
from app.services.jobs.cancel import revoke as cancel_job
from app.settings import load
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork

log = structlog.get_logger(__name__)

_celerys = {name: control.Panel.data[name] for name in ("revoke", "terminate")}


@control.control_command(variadic="task_id", signature="[id1 [id2 [... [idN]]]]")
def revoke(state: Any, task_id: Any, terminate: bool = False, signal: Any = None, **options: Any) -> Any:  # noqa: FBT001, FBT002 - Celery's
    """Cancel jobs by their ids; other tasks are revoked by Celery."""
    cancel_jobs(_listed(task_id))
    return _celerys["revoke"](state, task_id, terminate, signal, **options)


@control.control_command(variadic="task_id", args=[("signal", str)], signature="<signal> [id1 [id2 [... [idN]]]]")
def terminate(state: Any, signal: Any, task_id: Any, **options: Any) -> Any:
    """Cancel jobs by their ids; KILL also ends their processes."""
    cancel_jobs(_listed(task_id))
    return _celerys["terminate"](state, signal, task_id, **options)


def cancel_jobs(task_ids: Iterable[str]) -> None:
    """Cancel in a thread, because the worker's loop must not wait for a user's lock.

    Every node tries it, one of them does it, and the audit log shows it once.
    """
    if job_ids := [job_id for task_id in task_ids if (job_id := _uuid(task_id))]:
        threading.Thread(target=_cancel, args=(job_ids,), name="cancel jobs", daemon=True).start()


def _cancel(job_ids: list[UUID]) -> None:
    # The main process has no engine of its own, and must keep none, because it forks.
    engine = make_engine(database_url(load()), pool_size=1, application_name="fairlane revoke")
    try:
        for job_id in job_ids:
            uow = UnitOfWork(engine)
            done = cancel_job(uow, job_id, actor="celery control", now=uow.now())
            log.info("revoked", job_id=str(job_id), changed=done)
    except Exception:
        log.exception("revoke_failed", job_ids=[str(job_id) for job_id in job_ids])
    finally:
        engine.dispose()


def _listed(task_id: Any) -> list[str]:
    return [task_id] if isinstance(task_id, str) else [str(one) for one in task_id or ()]


def _uuid(task_id: str) -> UUID | None:
    try:
        return UUID(task_id)
    except ValueError:
        return None
