"""The README's first lines, run as they stand: nothing but the address of the database is another."""

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

from celery_durable.schema import VERSION
from durable_harness.broker import Broker
from durable_harness.waiting import wait_for

README = (Path(__file__).parents[1] / "README.md").read_text()
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
PROGRAMS = {"python": [sys.executable], "celery": [sys.executable, "-m", "celery"]}


def test_the_ten_lines_work_when_they_are_pasted(broker: Broker, tmp_path: Path) -> None:
    broker.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    section = README.partition("## Ten lines\n")[2].partition("\n## ")[0]
    section = section.replace("me@localhost/shop", broker.url.partition("://")[2])
    (_, install), (kind, module), (_, commands) = BLOCK.findall(section)
    assert kind == "python"
    assert module.startswith("# shop.py\n")
    (tmp_path / "shop.py").write_text(module)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BROKER_TEST")}

    def argv(line: str) -> list[str]:
        program, *arguments = shlex.split(line, comments=True)
        return [*PROGRAMS[program], *arguments]

    def run(line: str) -> str:
        done = subprocess.run(argv(line), cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    pip, create = install.splitlines()
    assert pip.startswith("pip install ")
    assert run(create) == f"version {VERSION}\n"
    start, publish = commands.splitlines()
    log = tmp_path / "log"
    with log.open("wb") as out:
        worker = subprocess.Popen(
            argv(start), cwd=tmp_path, env=environment, stdout=out, stderr=out, start_new_session=True
        )
    try:
        run(publish)
        wait_for(lambda: "order 7" in log.read_text() and broker.left() == 0, "the order")
        assert "Traceback" not in log.read_text()
    finally:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
