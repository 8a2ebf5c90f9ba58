"""Lines as JSON: of our events, of libraries, and of errors that nothing catches."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from durable_harness.environment import bare_environment

from tests.nodes import ROOT

CONFIGURED = "import logging, sys, warnings; from app import logs; logs.configure('json');"


def lines(code: str, exit_code: int = 0, **env: str) -> list[dict[str, Any]]:
    """The lines that a process writes to stdout and stderr: each a JSON object."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=bare_environment() | {"LOG_FORMAT": "json"} | env,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=240,
    )  # fmt: skip
    assert done.returncode == exit_code, done.stdout
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert all({"timestamp", "level", "logger", "event"} <= line.keys() for line in found), found
    return found


def test_a_line_of_our_packages_has_its_fields_and_their_types() -> None:
    [line] = lines(
        CONFIGURED + "log = logging.getLogger('celery_durable.x');"
        "log.warning('event=handback_failed leases=%d error=%r reason=lost', 3, 'no = room')"
    )
    assert (line["event"], line["leases"], line["error"], line["reason"]) == ("handback_failed", 3, "no = room", "lost")
    assert (line["level"], line["logger"]) == ("warning", "celery_durable.x")


def test_a_line_of_celery_names_the_job_but_not_its_arguments() -> None:
    context = {"id": "7", "name": "tasks.x", "args": "('s3cret',)", "kwargs": "{}", "runtime": 0.25}
    [line] = lines(
        CONFIGURED + "log = logging.getLogger('celery.worker.strategy');"
        f"c = {context!r}; log.info('Task %(name)s[%(id)s] received', c, extra={{'data': c}})"
    )
    assert (line["event"], line["job_id"], line["task"]) == ("Task tasks.x[7] received", "7", "tasks.x")
    assert line["seconds"] == 0.25
    assert "s3cret" not in json.dumps(line)


def test_what_a_library_adds_to_a_line_is_in_it() -> None:
    [line] = lines(CONFIGURED + "logging.getLogger('x').warning('moved', extra={'data_folder': '/d'})")
    assert (line["event"], line["data_folder"]) == ("moved", "/d")


def test_warnings_and_errors_that_nothing_catches_are_lines() -> None:
    warned, threads, ours = lines(
        CONFIGURED + "import threading; warnings.warn('old');"
        "t = threading.Thread(target=lambda: 1 / 0); t.start(); t.join();"
        "secret = 'hush'; raise ValueError('wrong')",
        exit_code=1,
    )
    assert "UserWarning: old" in warned["event"]
    assert (threads["event"], threads["error"]) == ("uncaught", "ZeroDivisionError")
    assert (ours["event"], ours["level"]) == ("uncaught", "critical")
    assert ours["exception"].endswith("ValueError: wrong")


def test_a_process_that_cannot_start_says_so_in_one_line() -> None:
    for module in ("celeryconfig", "app.server.config"):
        [line] = lines(f"import {module}", exit_code=1, LEASE_SECONDS="never")
        assert line["event"] == "cannot_start"
        assert "LEASE_SECONDS" in line["reason"]


def test_a_command_warns_and_refuses_in_lines() -> None:
    command = "from app.cli import main; main(['alive', 'nobody'])"
    strange, refused = lines(command, exit_code=1, FAIRNES_MODE="x", FAIRLANE_HOME=os.devnull + "-none")
    assert (strange["event"], strange["level"]) == ("unknown_setting", "warning")
    assert "FAIRNES_MODE" in strange["said"]
    assert refused["event"] == "refused"
