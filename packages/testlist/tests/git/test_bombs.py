"""What repositories can make git cost: memory and processor time are bounded, and the cause has a name."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from testlist_harness.bombs import BOMBS
from testlist_harness.fetched_bombs import FETCHED
from testlist_harness.packhost import answering
from testlist_harness.processes import no_children_left
from testlist_harness.repositories import MakeRepository
from testlist_harness.tiers import proofs

#: of any process, and of all of them together
MEGABYTES, SECONDS = 300, 10
#: asked for: all of them, and the table
ALL = os.environ.get("BOMBS") == "all"
TAKE = """
import json, resource, sys, tempfile, time
from pathlib import Path
from testlist import InventoryError, Source, fetched, inventory, resolve
began = time.monotonic()
try:
    with tempfile.TemporaryDirectory() as work:
        place = sys.argv[1]
        source = Source.remote(place, plain_http=True) if "://" in place else Source.local(Path(place))
        commit = resolve(source, sys.argv[2] or None)[0]
        with fetched(source, commit, workdir=Path(work)) as repository:
            found = inventory(repository)
    words = sorted({file.skipped for file in found.files if file.skipped})
    said = words[0] if words else "completed", ""
except InventoryError as error:
    said = error.code, error.message
usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(json.dumps({"code": said[0], "message": said[1], "wall": time.monotonic() - began,
                  "seconds": sum(one.ru_utime + one.ru_stime for one in usage),
                  "megabytes": max(one.ru_maxrss for one in usage) / 1024}))
"""


def take(place: str, ref: str = "") -> dict[str, object]:
    # below a shell: what we take ourselves would be counted as the child's
    argv = ["/bin/sh", "-c", '"$@"; exit $?', "sh", sys.executable, "-c", TAKE, place, ref]
    done = subprocess.run(argv, capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def bounded(name: str, found: dict[str, object], expected: str) -> None:
    print(f"\n| {name} | `{found['code']}` | {found['megabytes']:.0f} | {found['seconds']:.1f} | {found['wall']:.1f} |")
    assert str(found["code"]) in expected.split(), found
    assert float(str(found["megabytes"])) < MEGABYTES
    assert float(str(found["seconds"])) < SECONDS
    no_children_left()


def chosen(bombs: dict[str, tuple[Any, bool, str]]) -> list[str]:
    """The bounded few, unless all are asked for."""
    return [name for name, (_, always, _) in bombs.items() if always or ALL]


@pytest.mark.parametrize("name", proofs(chosen(BOMBS), but=["a file"]))
def test_a_bomb_on_this_machine_is_bounded_and_named(name: str, make_repository: MakeRepository) -> None:
    light, _, expected = BOMBS[name]
    repository = make_repository({"test_honest.py": "def test_honest(): pass\n"})
    light(repository)
    bounded(name, take(str(repository)), expected)


@pytest.mark.parametrize("name", proofs(chosen(FETCHED), but=["a fetched commit"]))
def test_a_bomb_of_a_host_is_bounded_and_named(name: str) -> None:
    answers, _, expected = FETCHED[name]
    with answering(answers()) as place:
        bounded(name, take(place), expected)
