"""What the processes of a node share: the first full collection of one's garbage must not copy it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.nodes import IMPORTS, ROOT, bare_environment

pytestmark = pytest.mark.proof

MEBIBYTE = 2**20
SCRIPT = f"""
import gc, os, signal
from celery.signals import worker_before_create_process
import {", ".join(IMPORTS)}

def anonymous(pid):
    [line] = [line for line in open(f"/proc/{{pid}}/smaps_rollup") if line.startswith("Pss_Anon:")]
    return 1024 * int(line.split()[1])

for _ in range(2):  # the second child finds everything as it was
    worker_before_create_process.send(sender=None)
frozen = gc.get_freeze_count()
worker_before_create_process.send(sender=None)
assert gc.get_freeze_count() == frozen
child = os.fork()
if not child:
    signal.pause()
before = anonymous(child)
gc.collect()
print(anonymous(child) - before)
os.kill(child, signal.SIGKILL)
"""


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="the kernel does not tell shares of memory")
def test_a_collection_in_a_node_copies_nothing_that_its_processes_share(tmp_path: Path) -> None:
    """It copied 16 MiB for the node, and as much was counted for its process that had shared them."""
    told = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, timeout=240, check=True,
        env=bare_environment() | {"DATABASE_URL": "postgresql://x@127.0.0.1:1/x", "FAIRLANE_HOME": str(tmp_path)},
    )  # fmt: skip
    assert int(told.stdout) < 4 * MEBIBYTE
