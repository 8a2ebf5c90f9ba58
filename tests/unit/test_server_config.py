"""What gunicorn is told to do in each process that serves."""

from __future__ import annotations

import subprocess
import sys

SERVE = """
import gc
from app.server import config
config.post_worker_init(None)
print(*gc.get_threshold(), gc.get_freeze_count() > 1000)
"""


def test_a_serving_process_collects_garbage_rarely_and_skips_what_it_is_made_of() -> None:
    told = subprocess.run([sys.executable, "-c", SERVE], check=True, capture_output=True, text=True).stdout
    assert told.split() == ["50000", "20", "100", "True"]
