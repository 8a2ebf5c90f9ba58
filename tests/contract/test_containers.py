"""What bounds the containers, and what is sent to the engine that builds them."""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import subprocess
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import yaml

from app.domain.queues import ALL_QUEUES
from app.settings import load
from app.version import VERSION
from app.web.core.wiring import POOL_SIZE
from tests.contract.chart import CHART
from tests.contract.conftest import ROOT

DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text(encoding="utf-8")
IGNORED = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
FILE = ROOT / "docker" / "compose.yaml"
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load(FILE.read_text(encoding="utf-8"))["services"]
PROXY = (ROOT / "docker" / "haproxy.cfg").read_text(encoding="utf-8")
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


def test_the_web_can_be_scaled_behind_the_proxy_which_alone_reaches_outside() -> None:
    reached = {name: [default(port) for port in service.get("ports", ())] for name, service in SERVICES.items()}
    assert reached.pop("proxy") == ["127.0.0.1:8000:8000", "127.0.0.1:8443:8443"]
    assert {name for name, ports in reached.items() if ports} == {"prometheus", "grafana"}
    assert all(port.startswith("127.0.0.1:") for ports in reached.values() for port in ports)
    assert SERVICES["web"]["environment"]["TRUST_PROXY"] == "true"
    assert not any("container_name" in service for service in SERVICES.values())


def test_a_web_that_stops_says_so_for_longer_than_the_proxy_needs_to_notice() -> None:
    [every, times] = [int(found) for found in re.findall(r"\b(?:inter|fall) (\d+)", PROXY)]
    drain = load({"WEB_DRAIN": default(SERVICES["web"]["environment"]["WEB_DRAIN"])}).web_drain
    assert drain.total_seconds() > every * times


@pytest.mark.parametrize("tls", ["off", "on"])
def test_haproxy_reads_its_configuration(tmp_path: Path, tls: str) -> None:
    program = shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        pytest.skip("haproxy is not installed (Debian's package haproxy)")
    make = "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out a.pem -subj /CN=a -days 2 && cat key.pem >> a.pem && rm key.pem"
    subprocess.run(["bash", "-euc", make], cwd=tmp_path, capture_output=True, check=True)
    (tmp_path / "haproxy.cfg").write_text(PROXY.replace("/run/tls/", f"{tmp_path}/a.pem").replace("libc,none", "none"))
    argv = [program, "-c", "-f", tmp_path / "haproxy.cfg"]
    done = subprocess.run(argv, env={"TLS": tls, "PATH": "/usr/bin:/bin"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_image_of_this_version_is_what_make_builds_and_the_chart_installs() -> None:
    done = subprocess.run(["make", "-n", "image"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert f" -t fairlane:{VERSION} --build-arg FAIRLANE_VERSION={VERSION} " in done.stdout
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    assert (chart["appVersion"], chart["version"]) == (VERSION, VERSION.replace(".dev", "-dev"))


def test_the_proxy_gives_a_health_check_longer_than_it_pauses_between_two() -> None:
    pause, patience = (re.findall(rf"{name} (\d+)s", PROXY) for name in ("inter", "timeout check"))
    assert len(pause) == len(patience) == 1
    assert int(patience[0]) > int(pause[0])


def test_what_is_mounted_from_the_repository_is_there() -> None:
    mounts = [mount for service in SERVICES.values() for mount in service.get("volumes", ()) if mount.startswith(".")]
    places = [place for place in (mount.split(":")[0] for mount in mounts) if "secrets" not in place]
    assert len(places) > 6
    assert [place for place in places if not (ROOT / "docker" / place).exists()] == []


def test_compose_would_take_the_file() -> None:
    specification = pytest.importorskip("compose_spec", reason="compose-spec is not installed: make packaging")
    # with variables and merged keys filled in, as compose does
    filled = yaml.safe_load(default(FILE.read_text(encoding="utf-8")))
    plain = yaml.safe_dump({name: part for name, part in filled.items() if not name.startswith("x-")})
    assert set(specification.PyCompose.from_yaml(plain).service_names()) == SERVICES.keys()
    with pytest.raises(ValueError, match="mem_limt"):
        specification.PyCompose.from_yaml(plain.replace("mem_limit", "mem_limt"))


def test_postgresql_has_connections_for_twice_the_processes_and_a_quarter_of_its_memory() -> None:
    command = default(" ".join(SERVICES["postgres"]["command"]))
    settings = dict(re.findall(r"-c(\w+)=(\S+)", command))
    nodes = sum(2 + 4 * load().workers(queue) for queue in ALL_QUEUES)
    assert int(settings["max_connections"]) >= 2 * (POOL_SIZE + nodes + 4)
    assert megabytes(settings["shared_buffers"]) * 4 == megabytes(SERVICES["postgres"]["mem_limit"])


def test_the_image_says_what_it_is_and_whether_it_works() -> None:
    labels = re.findall(r"org\.opencontainers\.image\.(\w+)=", DOCKERFILE)
    assert {"title", "licenses", "version", "revision"} <= set(labels)
    assert 'fairlane-alive "$NODE"' in DOCKERFILE.partition("\nHEALTHCHECK ")[2]
    assert SERVICES["release"]["healthcheck"] == {"disable": True}


@pytest.mark.parametrize("path", [".venv/bin/python", ".git/HEAD", "docker/secrets/database_url", "docker/.env", "tests/conftest.py", "packages/testlist/tests/x", "app/__pycache__/x", "fairlane.egg-info/PKG-INFO"])  # fmt: skip
def test_neither_secrets_nor_what_an_image_does_not_need_is_sent(path: str) -> None:
    assert ignored(path)


def test_all_that_the_image_copies_is_sent() -> None:
    copied = [word for line in re.findall(r"^COPY (?!--)(.*) \S+$", DOCKERFILE, re.MULTILINE) for word in line.split()]
    assert len(copied) > 6
    assert [path for path in copied if ignored(path) or not (ROOT / path).exists()] == []
    assert not any(ignored(path) for path in ("app/web/templates/page.html", "packages/testlist/src/testlist/cli.py"))
