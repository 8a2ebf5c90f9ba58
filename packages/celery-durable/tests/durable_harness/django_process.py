"""A Django process that does what a test writes: a start costs a second, a line after it milliseconds."""

import json
import os
import subprocess
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from textwrap import dedent
from typing import Any

from durable_harness.broker import ROOT, Broker, Worker
from durable_harness.postgres import PostgresServer
from durable_harness.waiting import wait_for

#: Runs each line, which is a program in JSON, and answers with a line: what it leaves in `answer`, or its traceback.
LOOP = """
import json, sys, traceback
import django
django.setup()
from celery_durable.contrib.django import alone
from celery_durable.contrib.django.models import *
from django.db import connection, connections, transaction
from django_shop import app
from django_shop.models import *
from django_shop.tasks import *
answers, sys.stdout = sys.stdout, sys.stderr  # commands print
print(json.dumps({"answer": "ready"}), file=answers, flush=True)
for line in sys.stdin:
    names = dict(globals(), answer=None)
    try:
        exec(json.loads(line), names)
        told = {"answer": names["answer"]}
    except BaseException:
        told = {"error": traceback.format_exc()}
    print(json.dumps(told, default=str), file=answers, flush=True)
"""


class Shop:
    """The project `django_shop` on a database, with a process that has it loaded."""

    def __init__(self, broker: Broker, driver: str, **environment: str) -> None:
        self.broker, self.driver = broker, driver
        self.environment = os.environ | {
            "SHOP_DRIVER": driver, "SHOP_DATABASE": broker.url, "DJANGO_SETTINGS_MODULE": "django_shop.settings",
        } | environment  # fmt: skip
        self._process: subprocess.Popen[str] | None = None
        broker.stack.callback(self.close)

    @classmethod
    def made(cls, server: PostgresServer, folder: Path, stack: ExitStack, driver: str = "psycopg") -> "Shop":
        """On a new database with the folder's name: pytest numbers the folders, and may set a fixture up again."""
        Broker(server.url(), server, folder, stack).query(f"CREATE DATABASE {folder.name}")
        return cls(Broker(server.url(folder.name), server, folder, stack), driver)

    def does(self, program: str) -> Any:
        """Run a program.  -> its `answer`"""
        if self._process is None:
            self._process = self._start("-c", LOOP, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            assert self._read()["answer"] == "ready"
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(dedent(program)) + "\n")
        self._process.stdin.flush()
        answer = self._read()
        assert "error" not in answer, answer["error"]
        return answer["answer"]

    def worker(self, *arguments: str) -> Worker:
        log = self.broker.logs / f"django-{self.driver}.log"
        given = ("-A", "django_shop", "worker", "-l", "info", "-c", "2", "--without-gossip", "--without-mingle")
        with log.open("wb") as out:
            process = self._start("-m", "celery", *given, *arguments, stdout=out, stderr=out, start_new_session=True)
        worker = Worker(process, log)
        self.broker.stack.callback(lambda: print(worker.text))
        self.broker.stack.callback(worker.clear)
        wait_for(lambda: "ready." in worker.text, "a worker that consumes")
        return worker

    def close(self) -> None:
        if self._process is not None:
            assert self._process.stdin is not None
            with suppress(BrokenPipeError):
                self._process.stdin.close()
            self._process.wait(timeout=60)
            assert self._process.stdout is not None
            self._process.stdout.close()

    def _start(self, *arguments: str, **options: Any) -> Any:
        return subprocess.Popen([sys.executable, *arguments], cwd=Path(ROOT), env=self.environment, **options)

    def _read(self) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the process ended"
        found: dict[str, Any] = json.loads(line)
        return found
