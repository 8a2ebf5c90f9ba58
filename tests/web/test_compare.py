"""Two results compared through the API."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from service_harness.application import Web
from service_harness.inventories import a_test, file
from sqlalchemy import text

from app.services.results.read_differences import Sides, read_differences
from app.store.analyses.inventories import FileRow


def done(web: Web, ref: str, *files: FileRow, headers: dict[str, str] | None = None) -> str:
    job_id: str = web.submit("shop", headers, ref=ref).json["id"]
    web.completed(job_id, list(files))
    return job_id


def test_what_became_of_the_tests_from_one_analysis_to_the_other(web: Web) -> None:
    before = done(web, "one", file("a.py", a_test("test_stays"), a_test("test_goes", line=2)))
    switched = a_test("test_stays", status="skipped")
    after = done(web, "two", file("a.py", switched), file("b.py", a_test("test_comes")))
    found = web.client.get(f"/api/v1/analyses/{before}/compare/{after}")
    assert found.status_code == 200
    assert found.json["totals"] == {
        "added": 1, "removed": 1, "moved": 0, "renamed": 0, "status_changed": 1, "unchanged": 0,
    }  # fmt: skip
    assert [(row["file"], row["name"]) for row in found.json["added"]] == [("b.py", "test_comes")]
    assert [row["name"] for row in found.json["removed"]] == ["test_goes"]
    assert found.json["status_changed"][0]["after"]["status"] == "skipped"
    back = web.client.get(f"/api/v1/analyses/{after}/compare/{before}").json
    assert [row["name"] for row in back["added"]] == ["test_goes"]


@pytest.mark.proof
def test_a_comparison_lists_so_many_tests_of_each_group(web: Web) -> None:
    before = done(web, "one")
    after = done(web, "two", file("a.py", *(a_test(f"test_{number}", line=number) for number in range(1, 6))))
    found = web.client.get(f"/api/v1/analyses/{before}/compare/{after}?limit=2").json
    assert (found["totals"]["added"], len(found["added"])) == (5, 2)
    assert web.client.get(f"/api/v1/analyses/{before}/compare/{after}?limit=0").status_code == 422


def test_a_file_that_could_not_be_read_is_unknown(web: Web) -> None:
    before = done(web, "one", file("a.py", a_test("test_a")))
    after = done(web, "two", FileRow("a.py", "9" * 40, None, [], "too_large"))
    found = web.client.get(f"/api/v1/analyses/{before}/compare/{after}").json
    assert (found["removed"], found["unknown"]) == ([], ["a.py"])


@pytest.mark.parametrize("first", [True, False])
def test_both_must_be_there_visible_and_completed(web: Web, first: bool) -> None:
    headers = web.token()
    completed, running = done(web, "one", headers=headers), web.submit("shop", headers, ref="two").json["id"]

    def answer(other: object, headers: dict[str, str]) -> int:
        pair = (completed, other) if first else (other, completed)
        return web.client.get("/api/v1/analyses/{}/compare/{}".format(*pair), headers=headers).status_code

    assert (answer(running, headers), answer(uuid4(), headers), answer("x", headers)) == (409, 404, 404)
    with web.uow.begin() as tx:
        tx.run(text("UPDATE codebases SET is_private = true"))
    assert (answer(completed, headers), answer(completed, web.token())) == (200, 404)


def test_files_that_are_alike_are_counted_and_not_read(web: Web) -> None:
    alike = [file(f"same_{n}.py", a_test("test_a"), a_test("test_b", line=2), hints=("stripe",)) for n in range(3)]
    unread = FileRow("large.py", "9" * 40, None, [], "too_large")
    before = done(web, "one", *alike, unread, file("old/moved.py", a_test("test_c")))
    after = done(web, "two", *alike, unread, file("new/moved.py", a_test("test_c")))

    def paths(sides: Sides) -> list[list[str]]:
        return [[one.path for one in side] for side in (sides.before, sides.after)]

    listed = read_differences(web.uow, UUID(before), UUID(after), None, paths, now=datetime.now(UTC))
    assert listed == [["large.py", "old/moved.py"], ["large.py", "new/moved.py"]]
    found = web.client.get(f"/api/v1/analyses/{before}/compare/{after}").json
    assert (found["totals"]["unchanged"], found["totals"]["moved"], found["unknown"]) == (6, 1, ["large.py"])
    itself = web.client.get(f"/api/v1/analyses/{before}/compare/{before}").json
    assert itself["totals"] == dict.fromkeys(found["totals"], 0) | {"unchanged": 7}
