"""What holds secrets shows its memory and environment to nobody but root."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.conftest import ROOT
from tests.tiers import few

#: each says something when it has come so far that it would work
PROCESSES = {
    "the command line": "from app.cli import main; import click\n"
    "main.add_command(click.Command('canary', callback=lambda: SAY()))\nmain.get_command = lambda *_: main.commands['canary']\n"
    "main(['canary'])",
    "a worker": "from celery.signals import celeryd_init\nimport tasks.celery\nceleryd_init.send(sender='x')\nSAY()",
    "a process of a worker's pool": "from celery.signals import celeryd_init\nimport os, tasks.celery\n"
    "celeryd_init.send(sender='x')\nos.fork() or SAY()\nos.waitpid(-1, 0)",
    "beat": "from celery.signals import beat_init\nimport tasks.celery\nbeat_init.send(sender='x')\nSAY()",
    "the web's main process": "import app.server.config as config; from types import SimpleNamespace as Of\n"
    "config.on_starting(Of(cfg=Of(workers=2))); SAY()",
    "the web": "from app.web import create_app; create_app(); SAY()",
}
BEGIN = """
import ctypes, os
def SAY():
    print(os.getpid(), ctypes.CDLL(None).prctl(3, 0, 0, 0, 0), flush=True)
    input()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is no such call")
@pytest.mark.parametrize("process", few(1, PROCESSES))
def test_a_process_with_secrets_shows_them_to_nobody(process: str, tmp_path: Path) -> None:
    env = {**os.environ, "FAIRLANE_HOME": str(tmp_path), "DATABASE_URL": "postgresql://127.0.0.1:1/canary"}
    argv = [sys.executable, "-c", BEGIN + PROCESSES[process]]
    with subprocess.Popen(
        argv, cwd=ROOT, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as started:
        assert started.stdout is not None
        try:
            pid, dumpable = started.stdout.readline().split()
            assert dumpable == "0"
            if os.geteuid() != 0:
                with pytest.raises(PermissionError):
                    Path(f"/proc/{pid}/environ").read_bytes()
        finally:
            os.killpg(started.pid, signal.SIGKILL)
