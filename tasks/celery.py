"""The Celery app: `celery -A tasks worker …`, `celery -A tasks beat`."""

import logging
import warnings
from typing import Any

from billiard.util import get_logger
from celery.platforms import SecurityWarning
from celery.signals import beat_init, celeryd_init, setup_logging
from testlist.sandbox import guard

from app import json_lines, logs
from app.adapters.sandbox import require
from app.errors import BadSetting
from app.processes import keep_private
from app.settings import load
from tasks.celery_prints import QuietCelery
from tasks.stopping import HandBack

# Celery warns root because pickle would run code from a message; we accept JSON only (docs/broker-hazards.md H29)
warnings.filterwarnings("ignore", category=SecurityWarning)

app = QuietCelery("tasks")
app.config_from_object("celeryconfig")
app.steps["worker"].add(HandBack)


@setup_logging.connect
def _log(**_: Any) -> None:
    logs.configure(load().log_format)
    logs.report_strangers()
    pool = get_logger()  # it would print, as it hands nothing on and has no handler
    pool.propagate = True
    pool.setLevel(logging.WARNING)


@celeryd_init.connect
def _guard(**_: Any) -> None:
    keep_private()
    try:
        require(load())
    except BadSetting as problem:
        raise json_lines.refusal(problem.detail) from None
    guard.close()  # the processes of the pool create their own


@beat_init.connect
def _keep(**_: Any) -> None:
    keep_private()
