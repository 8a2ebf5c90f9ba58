"""The Celery app: `celery -A tasks worker …`, `celery -A tasks beat`."""

import warnings
from typing import Any

from celery import Celery
from celery.platforms import SecurityWarning
from celery.signals import setup_logging

from app import logs
from app.settings import load

# Celery warns root because pickle would run what a message says; we accept JSON only (docs/broker-hazards.md H29)
warnings.filterwarnings("ignore", category=SecurityWarning)

app = Celery("tasks")
app.config_from_object("celeryconfig")


@setup_logging.connect
def _log(**_: Any) -> None:
    logs.configure(load().log_format)
