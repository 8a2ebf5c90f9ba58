"""The README's first lines, run as they stand: nothing but the address of the database is another."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from celery_durable.schema import VERSION
from durable_harness.broker import Broker, Worker
from durable_harness.waiting import wait_for

README = (Path(__file__).parents[1] / "README.md").read_text()
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
PROGRAMS = {"python": [sys.executable], "celery": [sys.executable, "-m", "celery"]}


class Reader:
    """Somebody who types what is written there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("BROKER_TEST")}
        self.started: list[Worker] = []

    def types(self, line: str) -> str:
        done = subprocess.run(argv(line), cwd=self.folder, env=self.environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def starts(self, line: str) -> Worker:
        log = self.folder / "log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                argv(line), cwd=self.folder, env=self.environment, stdout=out, stderr=out, start_new_session=True
            )
        self.started.append(Worker(process, log))
        return self.started[-1]


def argv(line: str) -> list[str]:
    program, *arguments = shlex.split(line, comments=True)
    return [*PROGRAMS[program], *arguments]


@pytest.fixture
def reader(broker: Broker, tmp_path: Path) -> Iterator[Reader]:
    broker.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    one = Reader(tmp_path)
    yield one
    for worker in one.started:
        worker.clear()


@pytest.mark.proof
def test_the_ten_lines_work_when_they_are_pasted(broker: Broker, reader: Reader) -> None:
    section = README.partition("## Ten lines\n")[2].partition("\n## ")[0]
    section = section.replace("me@localhost/shop", broker.url.partition("://")[2])
    (_, install), (kind, module), (_, commands) = BLOCK.findall(section)
    assert (kind, module.partition("\n")[0]) == ("python", "# shop.py")
    (reader.folder / "shop.py").write_text(module)
    pip, create = install.splitlines()
    assert pip.startswith("pip install ")
    assert reader.types(create) == f"version {VERSION}\n"
    start, publish = commands.splitlines()
    worker = reader.starts(start)
    reader.types(publish)
    wait_for(lambda: "order 7" in worker.text and broker.left() == 0, "the order")
    assert "Traceback" not in worker.text


def test_the_statements_of_an_application_run_on_the_tables(broker: Broker) -> None:
    [statements] = [block for kind, block in BLOCK.findall(README) if kind == "sql"]
    broker.query("CREATE TABLE orders (job text)")
    broker.query(statements.replace(":id", "'one'").replace(":token", "gen_random_uuid()"))
