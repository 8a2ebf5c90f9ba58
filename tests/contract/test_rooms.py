"""The same rooms on every floor: each is described, nothing stands outside of one, and tests stand in the room they are of."""

import re
from pathlib import Path

import pytest

from tests.contract.conftest import ROOT
from tests.contract.test_docs import text

pytestmark = pytest.mark.rule

APP = ROOT / "app"
#: Floor -> its modules outside of a room: the one value that every service is handed, and the list of all views.
FLOORS = {"services": {"policy.py"}, "store": set(), "web": {"views.py"}}
#: What tests of all rooms share.
SHARED = {"__init__.py", "conftest.py", "busy.py"}
ROW = re.compile(r"^\| `(\w+)/` \|[^|]+\| ([a-z, ]+) \|$", re.MULTILINE)


def rooms(folder: Path) -> set[str]:
    return {path.parent.name for path in folder.glob("*/__init__.py")}


def described() -> dict[str, list[str]]:
    """Room -> the floors on which it is."""
    part = text("architecture.md").partition("### Rooms\n")[2].partition("\n#")[0]
    return {room: floors.split(", ") for room, floors in ROW.findall(part)}


@pytest.mark.parametrize("floor", FLOORS)
def test_the_rooms_of_a_floor_are_those_of_the_architecture(floor: str) -> None:
    assert {room for room, floors in described().items() if floor in floors} == rooms(APP / floor)


@pytest.mark.parametrize("floor", FLOORS)
def test_nothing_stands_outside_of_a_room(floor: str) -> None:
    assert {path.name for path in (APP / floor).glob("*.py")} == FLOORS[floor] | {"__init__.py"}


def test_every_room_of_the_services_has_its_own_statements() -> None:
    assert rooms(APP / "services") <= rooms(APP / "store")


def test_every_file_of_views_is_imported_so_that_its_views_are_registered() -> None:
    web = APP / "web"
    files = [path for room in rooms(web) - {"core"} for path in (web / room).glob("*.py")]
    views = {path for path in files if re.search(r"^@(api|pages)\.", path.read_text(encoding="utf-8"), re.MULTILINE)}
    assert {path.stem.rpartition("_")[2] for path in views} == {"api", "pages"}
    imported = re.findall(r"^import (app\.web\.\S+)$", (web / "views.py").read_text(encoding="utf-8"), re.MULTILINE)
    assert {ROOT / f"{name.replace('.', '/')}.py" for name in imported} == views


def test_templates_stand_in_rooms_of_the_web() -> None:
    assert {path.name for path in (APP / "web" / "templates").iterdir() if path.is_dir()} <= rooms(APP / "web")


def test_tests_of_services_stand_in_rooms_of_services() -> None:
    tests = ROOT / "tests" / "services"
    assert rooms(tests) <= rooms(APP / "services")
    assert {path.name for path in tests.glob("*.py")} == SHARED
