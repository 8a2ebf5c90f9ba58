"""What bounds the containers, and what is sent to the engine that builds them."""

from __future__ import annotations

import fnmatch
import re
from pathlib import PurePosixPath
from typing import Any

import pytest
import yaml

from app.domain.queues import ALL_QUEUES
from app.settings import load
from app.web.core.wiring import POOL_SIZE
from tests.contract.conftest import ROOT

DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text(encoding="utf-8")
IGNORED = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text())["services"]
UNITS = {"m": 1, "g": 1024}
#: of compose's own variables: `${NAME:-default}`
VARIABLE = re.compile(r"\$\{(\w+):-([^}]*)\}")


def default(text: str) -> str:
    return VARIABLE.sub(r"\2", text)


def megabytes(text: str) -> int:
    found = re.fullmatch(r"(\d+)([mg])(?:b)?", default(text).lower())
    assert found, text
    return int(found[1]) * UNITS[found[2]]


def ignored(path: str) -> bool:
    """Decide as the container engine does: the last pattern that fits wins, and a folder's pattern fits all below it."""
    left_out = False
    for line in IGNORED:
        pattern, places = line.removeprefix("!"), [path, *map(str, PurePosixPath(path).parents)]
        wide = [pattern, pattern.removeprefix("**/")]
        if any(
            fnmatch.fnmatchcase(place, one) and place.count("/") == one.count("/") for place in places for one in wide
        ) or (
            pattern.startswith("**/")
            and any(fnmatch.fnmatchcase(PurePosixPath(place).name, wide[1]) for place in places)
        ):
            left_out = not line.startswith("!")
    return left_out


@pytest.mark.parametrize("name", SERVICES)
def test_every_container_has_bounds_of_memory_processes_scratch_and_logs(name: str) -> None:
    service = SERVICES[name]
    assert service["pids_limit"] >= 512
    options = service["logging"]["options"]
    assert megabytes(options["max-size"]) * int(options["max-file"]) <= 1024
    sizes = [re.search(r"size=(\$\{[^}]*\}|\w+)", mount) for mount in service["tmpfs"]]
    assert all(sizes), service["tmpfs"]
    assert sum(megabytes(size[1]) for size in sizes if size) < megabytes(service["mem_limit"]) / 2


def test_a_web_has_room_for_its_threads_and_its_drain() -> None:
    web, longest = SERVICES["web"], load({"WEB_DRAIN": "30s"}).web_drain.total_seconds()
    assert longest + 10 <= float(web["stop_grace_period"].removesuffix("s"))
    assert web["pids_limit"] >= 10 * 290


def test_the_web_can_be_scaled_within_a_range_of_ports() -> None:
    [port] = SERVICES["web"]["ports"]
    assert default(port) == "127.0.0.1:8000:8000"
    assert VARIABLE.sub("8000-8003", port) == "127.0.0.1:8000-8003:8000", "a port each for up to four webs"
    assert "container_name" not in SERVICES["web"]


def test_postgresql_has_connections_for_twice_the_processes_and_a_quarter_of_its_memory() -> None:
    command = default(" ".join(SERVICES["postgres"]["command"]))
    settings = dict(re.findall(r"-c(\w+)=(\S+)", command))
    nodes = sum(2 + 4 * load().workers(queue) for queue in ALL_QUEUES)
    assert int(settings["max_connections"]) >= 2 * (POOL_SIZE + nodes + 4)
    assert megabytes(settings["shared_buffers"]) * 4 == megabytes(SERVICES["postgres"]["mem_limit"])


def test_the_image_says_what_it_is_and_whether_it_works() -> None:
    labels = re.findall(r"org\.opencontainers\.image\.(\w+)=", DOCKERFILE)
    assert {"title", "licenses", "version", "revision"} <= set(labels)
    assert 'fairlane alive "$NODE"' in DOCKERFILE.partition("\nHEALTHCHECK ")[2]
    assert SERVICES["release"]["healthcheck"] == {"disable": True}


@pytest.mark.parametrize("path", [".venv/bin/python", ".git/HEAD", "docker/secrets/database_url", "docker/.env", "tests/conftest.py", "packages/testlist/tests/x", "app/__pycache__/x", "fairlane.egg-info/PKG-INFO"])  # fmt: skip
def test_neither_secrets_nor_what_an_image_does_not_need_is_sent(path: str) -> None:
    assert ignored(path)


def test_all_that_the_image_copies_is_sent() -> None:
    copied = [word for line in re.findall(r"^COPY (?!--)(.*) \S+$", DOCKERFILE, re.MULTILINE) for word in line.split()]
    assert len(copied) > 6
    assert [path for path in copied if ignored(path) or not (ROOT / path).exists()] == []
    assert not any(ignored(path) for path in ("app/web/templates/page.html", "packages/testlist/src/testlist/cli.py"))
