"""The service's own worker, which writes down before each task how many outcomes of former deliveries are in memory.

celery -A tests.e2e.counting_worker worker -Q analysis_default.  COUNTS is the file, with a number in each line.
"""

from __future__ import annotations

import gc
import os
from pathlib import Path

from celery.exceptions import Ignore
from celery.signals import task_prerun

from tasks.celery import app

COUNTS = Path(os.environ["COUNTS"])


@task_prerun.connect
def count(**_: object) -> None:
    kept = sum(type(one) is Ignore for one in gc.get_objects())
    with COUNTS.open("a", encoding="ascii") as out:
        out.write(f"{kept}\n")


__all__ = ["app"]
