"""What importing a part of the service pulls in; each is asked in a process of its own."""

import subprocess
import sys

import pytest

from tests.contract.conftest import ROOT

pytestmark = pytest.mark.rule

PURE = (
    "import app, pkgutil, importlib\n"
    "for name in ('app.domain', 'app.store', 'app.services'):\n"
    "    package = importlib.import_module(name)\n"
    "    for module in pkgutil.walk_packages(package.__path__, name + '.'):\n"
    "        importlib.import_module(module.name)\n"
    "import app.settings, app.errors\n"
)
#: Without the parts for a framework, or with a client of another broker, that an application has to install.
BROKER = (
    "import pkgutil, importlib, celery_durable\n"
    "apart = {'celery_durable.contrib', 'celery_durable.receiving.redis_source'}\n"
    "def walk(path, name):\n"
    "    for module in pkgutil.iter_modules(path, name + '.'):\n"
    "        if module.name not in apart:\n"
    "            found = importlib.import_module(module.name)\n"
    "            walk(getattr(found, '__path__', ()), module.name)\n"
    "walk(celery_durable.__path__, 'celery_durable')\n"
)


def modules_after(code: str) -> set[str]:
    argv = [sys.executable, "-c", f"{code}\nimport sys\nprint('\\n'.join(sys.modules))"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


@pytest.mark.parametrize("code", ["import app", PURE], ids=["the package", "its rules, statements and use cases"])
def test_the_service_without_its_edges_knows_neither_flask_nor_celery(code: str) -> None:
    loaded = modules_after(code)
    assert not loaded & {"flask", "apiflask", "werkzeug", "celery", "kombu", "billiard", "tasks"}


def test_the_web_loads_no_workers_code() -> None:
    loaded = modules_after("import app.web")
    assert not loaded & {
        "tasks.celery", "tasks.analysis", "tasks.maintenance", "tasks.base", "tasks.scheduler", "tasks.wiring",
        "tasks.heartbeat", "celeryconfig", "tree_sitter",
    }  # fmt: skip


def test_the_broker_knows_neither_the_service_nor_django_nor_a_client_of_redis() -> None:
    loaded = modules_after(BROKER)
    assert not loaded & {"django.db", "redis"}  # kombu itself imports a little of Django
    assert {name for name in loaded if name.split(".")[0] == "app"} == set()
    assert {name for name in loaded if name.startswith("tasks.") and not name.startswith("celery_durable")} == set()


def test_the_engine_knows_neither_the_service_nor_celery_nor_a_database() -> None:
    loaded = modules_after("import testlist, testlist.engine, testlist.reports.listing")
    assert not loaded & {"app", "celery", "kombu", "flask", "sqlalchemy", "psycopg2", "celery_durable"}


def test_a_command_about_cells_loads_neither_the_web_nor_the_engine() -> None:
    """Celery is loaded when a move begins, which publishes."""
    loaded = modules_after("import app.cli.cells")
    assert not loaded & {"flask", "testlist", "tree_sitter", "celery", "kombu"}
