"""Run Celery's integration tests and kombu's tests of transports over celery-durable: `make prove-celery`.

    python packages/celery-durable/tools/celery_tests.py [--celery 5.7] [-- PYTEST…]

They come from the source distributions of the versions that pip chooses, and go with the folder they are in.  Results
and chords need a `redis-server`.  celery-tests.md, beside how-it-works.md, says which of them fail, and why.
"""

import argparse
import os
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
#: What Celery's tests import, besides the packages they test.
NEEDS = (
    "cryptography", "django", "freezegun", "msgpack", "pydantic", "pytest-click", "pytest-order",
    "pytest-rerunfailures", "pytest-subtests", "pytest-timeout", "pyyaml", "redis", "setuptools", "wheel",
)  # fmt: skip
#: kombu's own tests of a transport; `failover` is refused, and everything else is asked.
DURABLE = """
import os

import celery_durable
import kombu
import pytest
from t.integration import common


@pytest.fixture
def connection():
    return kombu.Connection(os.environ["TEST_BROKER"])


@pytest.fixture
def invalid_connection():
    return kombu.Connection("durable://localhost:1/none")


for _name, _tests in list(vars(common).items()):
    if _name.startswith("Bas") and "Failover" not in _name:
        globals()["test_" + _name] = type("test_" + _name, (_tests,), {})
del _tests
"""
#: They want Azure's storage, and fail while they are read.
LEFT_OUT = ("test_backend.py",)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--celery", default="5.7")
    parser.add_argument("pytest", nargs="*", default=[])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        place.chmod(0o755)  # PostgreSQL does not run as root, and its programs are below
        python = install(given.celery, place)
        argv: list[str | Path] = [python, __file__, "--inside", str(place), *given.pytest]
        return subprocess.run(argv, check=False).returncode


def install(celery: str, place: Path) -> Path:
    """Make an environment, and a folder for each of the two with its tests; -> the program of its Python."""
    subprocess.run([sys.executable, "-m", "venv", place / "venv"], check=True)
    python = place / "venv" / "bin" / "python"
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    versions = [f"celery=={celery}.*", f"kombu=={celery}.*"]
    subprocess.run([*pip, "install", f"{PACKAGE}[test]", *versions, *NEEDS], check=True)
    [library] = (place / "venv" / "lib").glob("python3.*/site-packages")
    (library / "celery_durable.pth").write_text("import celery_durable\n")  # the tests' own processes know no transport
    for name in ("celery", "kombu"):
        says = [python, "-c", f"from importlib.metadata import version; print(version('{name}'))"]
        version = subprocess.run(says, check=True, capture_output=True, text=True).stdout.strip()
        source = ["download", "--no-deps", "--no-binary", ":all:", "--no-build-isolation", "--dest", place]
        subprocess.run([*pip, *source, f"{name}=={version}"], check=True)
        with tarfile.open(place / f"{name}-{version}.tar.gz") as archive:
            archive.extractall(place / "sources", filter="data")
        shutil.move(place / "sources" / f"{name}-{version}" / "t", place / name / "t")
    return python


def inside(place: Path, arguments: list[str]) -> int:
    """In that environment: start the servers, run the tests, tell how they ended."""
    sys.path.insert(0, str(PACKAGE / "tests"))
    from durable_harness.postgres import PostgresServer  # noqa: PLC0415  only the environment has what it needs

    server = PostgresServer()
    try:
        server.start()
        subprocess.run([sys.executable, "-m", "celery_durable.schema", server.url()], check=True)
        with redis(place) as port:
            environment = os.environ | {
                "PATH": f"{place / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}",
                "TEST_BROKER": f"durable+{server.url()}",
                "TEST_BACKEND": f"redis://127.0.0.1:{port}/0", "REDIS_HOST": "127.0.0.1", "REDIS_PORT": str(port),
            }  # fmt: skip
            return run(place, environment, arguments)
    finally:
        server.remove()


def run(place: Path, environment: dict[str, str], arguments: list[str]) -> int:
    """Both suites, each from its own folder."""
    tests = place / "kombu" / "t" / "integration"
    for path in tests.glob("test_*.py"):
        path.unlink()  # of the other transports
    (tests / "test_durable.py").write_text(DURABLE)
    failed = 0
    for name in ("kombu", "celery"):
        print(f"{name} {metadata.version(name)}", flush=True)
        argv = [sys.executable, "-m", "pytest", "-q", "-rsfE", "-p", "no:cacheprovider", "-p", "no:randomly"]
        argv += ["-o", "python_classes=test_*", "--timeout", "300", "t/integration", *arguments]
        if name == "celery":
            argv += ["-p", "celery.contrib.pytest", *(f"--ignore=t/integration/{path}" for path in LEFT_OUT)]
        failed |= subprocess.run(argv, cwd=place / name, env=environment, check=False).returncode
    return failed


@contextmanager
def redis(place: Path) -> Iterator[int]:
    """A server that keeps nothing; its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    argv = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(place)]
    server = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    try:
        yield port
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        sys.exit(inside(Path(sys.argv[2]), sys.argv[3:]))
    sys.exit(main())
