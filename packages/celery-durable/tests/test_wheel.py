"""The built wheel in an empty environment, beside Celery and nothing else: the README's lines, as they stand."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from celery_durable.schema import VERSION
from durable_harness.broker import Broker, Worker
from durable_harness.waiting import wait_for

pytestmark = pytest.mark.proof

PACKAGE = Path(__file__).parents[1]
BLOCK = re.compile(r"```python\n# shop\.py\n(.*?)```", re.DOTALL)
#: What the README's example does.
PRINTS = 'print(f"order {order} is paid")'
#: What it does here: it tells what it did, fails once, and takes its time where it is asked to.
PAYMENTS = """
import os, pathlib, time

def charge(order):
    told = pathlib.Path(f"charged-{order}")
    runs = told.read_text() if told.exists() else ""
    told.write_text(runs + f"{os.getpid()}\\n")
    if order == "fails" and not runs:
        raise ConnectionError("the bank is away")
    if order == "stays" and not runs:
        time.sleep(600)
    pathlib.Path(f"done-{order}").touch()
"""


def run(*argv: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(argv, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of an environment with the wheel and Celery."""
    folder = tmp_path_factory.mktemp("empty")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
    run(*pip, "wheel", "--no-deps", "--wheel-dir", folder / "dist", PACKAGE)
    [wheel] = (folder / "dist").glob("celery_durable-*.whl")
    run(sys.executable, "-m", "venv", folder / "venv")
    found = folder / "venv" / "bin" / "python"
    run(found, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", wheel, "celery")
    return found


@pytest.fixture
def shop(tmp_path: Path, broker: Broker, python: Path) -> "Shop":
    broker.query("DROP SCHEMA public CASCADE")
    broker.query("CREATE SCHEMA public")
    [example] = BLOCK.findall((PACKAGE / "README.md").read_text())
    assert PRINTS in example
    (tmp_path / "shop.py").write_text(example.replace(PRINTS, '__import__("payments").charge(order)'))
    (tmp_path / "payments.py").write_text(PAYMENTS)
    return Shop(python, tmp_path, broker)


class Shop:
    """Somebody's project, whose only broker is the database."""

    def __init__(self, python: Path, folder: Path, broker: Broker) -> None:
        self.python, self.folder, self.broker = python, folder, broker
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "BROKER_TEST"))
        } | {"CELERY_BROKER_URL": f"durable+{broker.url}"}

    def run(self, *arguments: str) -> str:
        return run(self.python, *arguments, cwd=self.folder, env=self.environment).stdout

    def worker(self) -> Worker:
        log = self.folder / f"worker{len(list(self.folder.glob('worker*')))}.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                [self.python, "-m", "celery", "-A", "shop", "worker", "-l", "info", "-c", "2", "-n", f"{log.stem}@test"],
                cwd=self.folder, env=self.environment, stdout=out, stderr=out, start_new_session=True,
            )  # fmt: skip
        worker = Worker(process, log)
        self.broker.stack.callback(worker.clear)
        wait_for(lambda: "ready." in worker.text)
        return worker

    def bill(self, order: str) -> None:
        self.run("-c", f"import shop; shop.bill.delay({order!r})")

    def runs(self, order: str) -> int:
        told = self.folder / f"charged-{order}"
        return len(told.read_text().splitlines()) if told.exists() else 0

    def is_done(self, order: str) -> bool:
        return (self.folder / f"done-{order}").exists()


@pytest.mark.release
def test_the_readmes_lines_work_in_an_environment_of_their_own(shop: Shop) -> None:
    listed = shop.run("-m", "pip", "list", "--format=freeze")
    assert "celery-durable==" in listed
    assert "fairlane" not in listed
    assert shop.run("-m", "celery_durable.schema", shop.broker.url) == f"version {VERSION}\n"
    first = shop.worker()
    for order in ("plain", "fails", "stays"):
        shop.bill(order)
    wait_for(lambda: shop.is_done("plain") and shop.is_done("fails") and shop.runs("stays") == 1)
    assert (shop.runs("plain"), shop.runs("fails")) == (1, 2)
    os.killpg(first.process.pid, signal.SIGKILL)
    first.process.wait()
    shop.worker()
    wait_for(lambda: shop.is_done("stays"))
    wait_for(lambda: shop.broker.left() == 0)
    assert shop.runs("stays") == 2


def test_the_command_says_what_is_wrong(broker: Broker) -> None:
    def said(*arguments: str) -> str:
        argv = [sys.executable, "-m", "celery_durable.schema", *arguments]
        done = subprocess.run(argv, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (1, "")
        return done.stderr

    assert said().startswith("usage: python -m celery_durable.schema postgresql://")
    assert "no_such_database" in said(broker.url.replace("/postgres", "/no_such_database"))
    assert "a lower-case schema name" in said(broker.url, "a; drop")
    broker.query("UPDATE kombu_schema SET version = 99")
    assert "version 99; this celery-durable knows up to" in said(broker.url)
