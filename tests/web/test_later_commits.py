"""An analysis takes over what the last one of its repository says, and stores what a whole one would."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import testlist
from sqlalchemy import text
from testlist.model import FileInventory

import tasks.file_rows
from app.store.analyses import last_inventories
from tests.web.places import Place

FILES = {
    "README": "",
    "pytest.ini": "[pytest]\n",
    "shop.py": "def check_total(x):\n    assert x == 1\n",
    "test_f.py": "from shop import check_total\ndef test_f():\n    check_total(1)\n",
    "test_b.py": "def test_b():\n    assert 1\n\ndef test_c(): pass\n",
    "test_c.py": "def test_c(:\n",
    "test_d.py": "x = '\0'",
}
LATER: Mapping[str, Mapping[str, str]] = {
    "nothing": {"README": "more"},
    "a test": {"test_b.py": "def test_b():\n    assert 2 == 3\n"},
    "what a test calls": {"shop.py": "def check_total(x):\n    assert x == 2\n"},
    "a new file": {"test_e.py": "def test_e(): pass\n"},
}
STORED = text("""
    SELECT f.path, f.skipped, i.framework, i.tests, i.checks, i.hints, i.total_tests, i.digest, a.summary
      FROM analysis_files f JOIN analyses a ON a.id = f.analysis_id
      LEFT JOIN file_inventories i ON i.id = f.file_inventory_id
     WHERE a.commit_sha = :commit ORDER BY f.ordinal""")


def write(place: Place, files: Mapping[str, str]) -> None:
    for path, content in files.items():
        (place.path / path).write_text(content, "utf-8")


def stored(place: Place, commit: str) -> list[tuple[Any, ...]]:
    with place.web.uow.begin() as tx:
        return [tuple(row) for row in tx.run(STORED, commit=commit).all()]


@pytest.fixture
def rendered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Paths of the files whose rows were rendered to be stored."""
    paths: list[str] = []
    file_row = tasks.file_rows.file_row

    def watched(file: FileInventory) -> Any:
        paths.append(file.path)
        return file_row(file)

    monkeypatch.setattr(tasks.file_rows, "file_row", watched)
    return paths


@pytest.mark.parametrize("change", LATER)
def test_a_later_analysis_stores_what_a_whole_one_would(place: Place, rendered: list[str], change: str) -> None:
    user = place.web.user()
    write(place, FILES)
    place.commit(1)
    place.ask(user)
    rendered.clear()
    write(place, LATER[change])
    commit = place.commit(1)
    place.ask(user)
    again = {"a test": {"test_b.py"}, "what a test calls": {"test_f.py"}, "nothing": set()}.get(change)
    assert again is None or set(rendered) == again
    later = stored(place, commit)
    forget(place, commit)
    place.ask(user)
    assert stored(place, commit) == later


def forget(place: Place, commit: str) -> None:
    """Let the commit be analysed again, as a whole."""
    with place.web.uow.begin() as tx:
        tx.run(text("DELETE FROM last_inventories"))
        tx.run(text("UPDATE analyses SET parser_version = '0' WHERE commit_sha <> :commit"), commit=commit)
        ids = list(tx.run(text("SELECT id FROM analyses WHERE commit_sha = :commit"), commit=commit).scalars())
        tx.run(text("DELETE FROM analyses WHERE id = ANY (:ids)"), ids=ids)
        tx.run(text("DELETE FROM analysis_requests WHERE job_id = ANY (:ids)"), ids=ids)
        tx.run(text("DELETE FROM file_lists l WHERE NOT EXISTS"
                    " (SELECT FROM analysis_file_lists u WHERE u.file_list_id = l.id)"))  # fmt: skip


def test_what_retention_has_removed_meanwhile_is_taken_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    user = place.web.user()
    write(place, FILES)
    place.commit(1)
    place.ask(user)
    inventory, asked = testlist.inventory, []

    def pruned(*given: Any, earlier: Any, **named: Any) -> Any:
        asked.append(earlier is not None)
        with place.web.uow.begin() as tx:
            tx.run(text("DELETE FROM analyses WHERE status = 'completed'"))
            tx.run(text("DELETE FROM file_lists"))
            tx.run(text("DELETE FROM file_inventories"))
        return inventory(*given, earlier=earlier, **named)

    monkeypatch.setattr("tasks.analysis.inventory", pruned)
    commit = place.commit(2)
    assert place.ask(user) == (202, commit)
    assert asked == [True, False]
    assert {row.path: row.total_tests for row in found(place, commit)} == {
        "test_a.py": 2, "test_b.py": 2, "test_c.py": 1, "test_d.py": None, "test_f.py": 1,
    }  # fmt: skip


def found(place: Place, commit: str) -> Any:
    with place.web.uow.begin() as tx:
        return tx.run(STORED, commit=commit).all()


def test_a_last_inventory_goes_with_its_analysis(place: Place) -> None:
    user = place.web.user()
    place.commit(1)
    place.ask(user)
    assert lasts(place) == 1
    with place.web.uow.begin() as tx:
        tx.run(text("DELETE FROM analyses"))
    assert lasts(place) == 0


@pytest.mark.parametrize(
    "spoil",
    [
        "UPDATE last_inventories SET content = 'x'",
        "UPDATE analyses SET parser_version = '0' WHERE commit_sha = :commit",
    ],
    ids=["packed otherwise", "of other rules"],
)
def test_one_that_does_not_fit_is_not_used(place: Place, rendered: list[str], spoil: str) -> None:
    user = place.web.user()
    write(place, FILES)
    first = place.commit(1)
    place.ask(user)
    with place.web.uow.begin() as tx:
        tx.run(text(spoil), **({"commit": first} if ":commit" in spoil else {}))
    rendered.clear()
    write(place, LATER["nothing"])
    place.commit(1)
    place.ask(user)
    assert {"test_b.py", "test_f.py"} <= set(rendered)


def test_one_that_is_too_large_is_not_kept(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(last_inventories, "MOST_BYTES", 10)
    place.commit(1)
    place.ask(place.web.user())
    assert lasts(place) == 0


def lasts(place: Place) -> int:
    with place.web.uow.begin() as tx:
        return int(tx.run(text("SELECT count(*) FROM last_inventories")).scalar_one())
