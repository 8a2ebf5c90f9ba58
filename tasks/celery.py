"""The Celery app: `celery -A tasks worker …`, `celery -A tasks beat`."""

import warnings
from typing import Any

from celery import Celery
from celery.platforms import SecurityWarning
from celery.signals import setup_logging, worker_process_init

from tasks import wiring

# Celery warns root because pickle would run what a message says; we accept JSON only (docs/broker-hazards.md H29)
warnings.filterwarnings("ignore", category=SecurityWarning)

app = Celery("tasks")
app.config_from_object("celeryconfig")


@setup_logging.connect
def _log(**_: Any) -> None:
    wiring.configure_logging()


@worker_process_init.connect
def _forked(**_: Any) -> None:
    # a socket that two processes share speaks two conversations at once (H13)
    wiring.forget()
