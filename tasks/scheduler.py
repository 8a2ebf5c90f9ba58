"""Celery beat with its state in PostgreSQL: any number may run, one leads, each slot is sent once."""

import os
import socket
from datetime import timedelta
from typing import Any

import structlog
from celery.beat import Scheduler
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from app.domain.queues import Service, select_queue
from app.services.operations.schedule import obeyed, register
from app.services.operations.send_schedule import ScheduledEntry, seconds_to_next, send_newest_slot
from app.services.webhooks.dispatch import dispatch
from app.store.operations import schedule
from tasks.alive import sign_of_beat
from tasks.wiring import wired

log = structlog.get_logger(__name__)

#: How soon another beat takes over after the leader's connection is lost.
FOLLOWER_SECONDS = 2.0


class PgScheduler(Scheduler):
    """Entries are `beat_schedule` with a timedelta each; their queue is `analysis_scheduled` unless they name one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._leadership: Connection | None = None
        self._is_away = False
        super().__init__(*args, **kwargs)

    def setup_schedule(self) -> None:
        """Read the entries; nothing is stored in a file."""
        scheduled = select_queue(Service.ANALYSIS, None, scheduled=True)
        self.entries = [
            ScheduledEntry(
                name, spec["task"], spec["schedule"], spec.get("queue", scheduled), spec.get("offset", timedelta(0))
            )
            for name, spec in self.app.conf.beat_schedule.items()
        ]

    def tick(self, *_: Any, **__: Any) -> float:
        """Send the entries that are due, if this beat leads.  Returns: seconds to sleep."""
        sign_of_beat()
        try:
            leads, self._is_away = self._leads(), False
            if not leads:
                return FOLLOWER_SECONDS
            now = wired().uow.now()
            entries = obeyed(wired().uow, self.entries)
            for entry in entries:
                if send_newest_slot(wired().uow, entry, now=now):
                    log.info("sent", entry=entry.name)
            if turns := dispatch(wired().uow):
                log.info("webhook_turns", turns=turns)
            waits = [seconds_to_next(entry, now=now) for entry in entries]
            return min([float(self.max_interval), *waits])
        except DBAPIError as error:
            if not self._is_away:  # it may be for hours
                log.warning("beat_lost_database", error=type(error).__name__)
            self._is_away = True
            self.close()
            return FOLLOWER_SECONDS

    def close(self) -> None:
        """Give up the lead."""
        if self._leadership is not None:
            self._leadership.invalidate()
            self._leadership = None

    def _leads(self) -> bool:
        if self._leadership is None:
            connection = wired().direct.connect().execution_options(isolation_level="AUTOCOMMIT")
            if not schedule.lead(connection):
                connection.close()
                return False
            self._leadership = connection
            register(wired().uow, self.entries, leader=f"{socket.gethostname()}:{os.getpid()}", now=wired().uow.now())
            log.info("beat_leads")
        schedule.alive(self._leadership)
        return True
