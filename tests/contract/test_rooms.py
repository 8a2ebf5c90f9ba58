"""The rooms of the services: each is described, nothing stands outside of one, and tests stand in the room they are of."""

import re
from pathlib import Path

from tests.contract.conftest import ROOT
from tests.contract.test_docs import text

SERVICES = ROOT / "app" / "services"
#: The one value that every room is handed.
OUTSIDE = {"__init__.py", "policy.py"}
#: What tests of all rooms share.
SHARED = {"__init__.py", "conftest.py", "busy.py"}


def rooms(folder: Path) -> set[str]:
    return {path.parent.name for path in folder.glob("*/__init__.py")}


def test_the_rooms_are_those_of_the_architecture() -> None:
    part = text("architecture.md").partition("### Rooms of the services\n")[2].partition("\n#")[0]
    assert set(re.findall(r"^\| `(\w+)/`", part, re.MULTILINE)) == rooms(SERVICES)


def test_nothing_but_the_policy_stands_outside_of_a_room() -> None:
    assert {path.name for path in SERVICES.glob("*.py")} == OUTSIDE


def test_tests_of_services_stand_in_rooms_of_services() -> None:
    tests = ROOT / "tests" / "services"
    assert rooms(tests) <= rooms(SERVICES)
    assert {path.name for path in tests.glob("*.py")} == SHARED
