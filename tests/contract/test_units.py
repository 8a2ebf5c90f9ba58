"""The units of systemd run the processes of the Procfile, each with few rights and as long to stop as it needs."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from app.domain.queues import ALL_QUEUES
from app.settings import Settings, load
from tests.contract.conftest import ROOT
from tests.contract.test_processes import procfile

pytestmark = pytest.mark.rule

FOLDER = ROOT / "deploy" / "systemd" / "system"
COMMON = FOLDER / "fairlane-.service.d" / "common.conf"
PLACE = "/opt/fairlane/bin"
#: What `systemd-analyze security` gives at most, of 100; a service without any of it has 96.
EXPOSURE = 25
SERVICES = sorted(path.name for path in FOLDER.glob("*.service"))


def options(path: Path) -> dict[str, list[str]]:
    """The options of a unit, each with its values in their order."""
    found = defaultdict[str, list[str]](list)
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and line[0] not in "#[;":
            name, _, value = line.partition("=")
            found[name].append(value)
    return found


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder of units as on a host: the template with its instances, and programs that are there."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed (Debian's package systemd)")
    for path in FOLDER.rglob("*"):
        if path.is_file():
            to = tmp_path / path.relative_to(FOLDER)
            to.parent.mkdir(exist_ok=True)
            # verify asks whether programs and users are there
            text = path.read_text(encoding="utf-8").replace(PLACE, "/bin").replace("=fairlane\n", "=daemon\n")
            to.write_text(re.sub(r"=/bin/\S+", "=/bin/true", text))
    for queue in ALL_QUEUES:
        (tmp_path / f"fairlane-worker@{queue}.service").symlink_to("fairlane-worker@.service")
    return tmp_path


def analyze(*argv: str | Path, units: Path) -> subprocess.CompletedProcess[str]:
    environment = {"SYSTEMD_UNIT_PATH": f"{units}:", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    return subprocess.run(["systemd-analyze", *argv], env=environment, capture_output=True, text=True)


def names() -> list[str]:
    """All units as they run."""
    one = [f"fairlane-worker@{queue}.service" for queue in ALL_QUEUES]
    return [*(name for name in SERVICES if "@" not in name), *one]


def test_systemd_finds_nothing_wrong(installed: Path) -> None:
    done = analyze("verify", "--man=no", *(installed / name for name in [*names(), "fairlane.target"]), units=installed)
    ours = [line for line in done.stderr.splitlines() if "fairlane" in line or str(installed) in line]
    assert (done.returncode, ours) == (0, [])


@pytest.mark.parametrize("name", [name.replace("@", "@analysis_default") for name in SERVICES])
def test_each_unit_has_few_rights(installed: Path, name: str) -> None:
    done = analyze(
        "security", "--offline=true", f"--threshold={EXPOSURE}", "--no-pager", installed / name, units=installed
    )
    assert done.returncode == 0, done.stdout[-600:] + done.stderr


def test_the_filter_of_system_calls_lets_the_sandbox_of_git_and_parsers_be_made(installed: Path) -> None:
    allowed, waiting = set[str](), " ".join(options(COMMON)["SystemCallFilter"]).split()
    while waiting:
        name = waiting.pop()
        if name.startswith("@"):
            lines = analyze("syscall-filter", name, units=installed).stdout.splitlines()
            waiting += [line.strip() for line in lines[1:] if line.strip() and not line.strip().startswith("#")]
        allowed.add(name)
    needed = {
        "landlock_create_ruleset",
        "landlock_add_rule",
        "landlock_restrict_self",
        "seccomp",
        "prctl",
        "prlimit64",
        "setsid",
    }
    assert needed <= allowed


def test_the_units_are_the_processes_of_the_procfile_and_the_migration() -> None:
    assert SERVICES == [
        "fairlane-beat.service",
        "fairlane-migrate.service",
        "fairlane-web.service",
        "fairlane-worker@.service",
    ]
    for queue in ALL_QUEUES:
        told = " ".join(re.sub(r" -c \S+", "", procfile()[f"worker_{queue}"]).split())
        assert command("fairlane-worker@.service").replace("%i", queue).replace("%%", "%") == told
    assert command("fairlane-beat.service") == procfile()["beat"]
    web = procfile()["web"].rpartition("exec ")[2]
    assert re.sub(r"\$\{(\w+):-[^}]*\}", r"${\1}", web) == command("fairlane-web.service")
    assert command("fairlane-migrate.service") == procfile()["web"].partition(" && ")[0]


def command(name: str) -> str:
    [found] = options(FOLDER / name)["ExecStart"]
    assert found.startswith(f"{PLACE}/")
    return found.removeprefix(f"{PLACE}/")


def test_a_process_is_stopped_by_a_signal_to_itself_and_has_the_time_that_it_needs() -> None:
    grace = load({"SHUTDOWN_GRACE": "20s", "WEB_DRAIN": "30s"})
    for name, longest in {"web": grace.web_drain, "worker@": grace.shutdown_grace}.items():
        unit = options(FOLDER / f"fairlane-{name}.service")
        assert unit["KillMode"] == ["mixed"]
        assert longest.total_seconds() + 10 <= int(unit["TimeoutStopSec"][0])


def test_secrets_are_credentials_and_the_owners_is_for_the_migration_alone() -> None:
    for path in FOLDER.rglob("*.service"):
        held = [value.partition(":")[0] for value in options(path)["LoadCredential"]]
        assert held == (["database_owner_url"] if path.name == "fairlane-migrate.service" else []), path.name
    for path in (COMMON, FOLDER / "fairlane-migrate.service"):
        for value in options(path)["LoadCredential"]:
            name, _, place = value.partition(":")
            assert place == f"/etc/fairlane/{name}"
            assert f"{name.upper()}_FILE=%d/{name}" in " ".join(options(path)["Environment"])
            assert name in Settings.model_fields


def test_what_is_common_is_written_once() -> None:
    common = options(COMMON).keys() - {"After", "Environment", "LoadCredential"}
    for path in FOLDER.glob("*.service"):
        assert options(path).keys() & common == set(), path.name
    assert options(FOLDER / "fairlane.target")["WantedBy"] == ["multi-user.target"]
