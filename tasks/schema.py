"""Keep a worker or a beat from working on a schema that its release cannot serve."""

from time import sleep
from typing import Any

import structlog
from celery.signals import beat_init, worker_init
from sqlalchemy.exc import SQLAlchemyError

from app.database import database_url
from app.json_lines import refusal
from app.services.operations import readiness
from app.settings import load
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork

log = structlog.get_logger(__name__)

#: How often to check an older schema, once a second: `fairlane migrate` may be under way.
LOOKS = 60


@worker_init.connect
@beat_init.connect
def check(**_: Any) -> None:
    """Wait for the migration of this release; exit if it does not come.  Raises: SystemExit.

    If the database is unavailable, the node itself waits for it.
    """
    # before the fork, so no connection may be left
    engine = make_engine(database_url(load()), pool_size=1, application_name="fairlane start")
    try:
        for _look in range(LOOKS):
            try:
                found, is_newer = readiness.schema_of_database(UnitOfWork(engine))
            except SQLAlchemyError:
                return
            if found == "ok":
                return
            log.warning("schema_not_served", schema=found)
            if is_newer:  # no migration of this release will come
                break
            sleep(1)
    finally:
        engine.dispose()
    raise refusal(found)
