"""Files of a result through the API, with what they are about."""

from __future__ import annotations

from typing import Any

import pytest
from service_harness.application import Web
from service_harness.inventories import a_test, file


def files() -> list[Any]:
    return [
        file("a/test_cart.py", a_test("test_a"), a_test("test_b", line=2), hints=("stripe", "Cart.add")),
        file("a/test_none.py"),
        file("b/large.py", skipped="too_large"),
        file("b/test_price.py", a_test("test_c"), hints=("Price.round",)),
    ]


def completed(web: Web) -> str:
    job_id: str = web.submit().json["id"]
    web.completed(job_id, files())
    return f"/api/v1/analyses/{job_id}/files"


def test_files_tell_their_tests_their_hints_and_why_they_were_not_read(web: Web) -> None:
    found = web.client.get(completed(web)).json
    assert (found["total"], found["next"]) == (3, None)
    assert [(row["file"], row["tests"], row["skipped"], row["hints"]) for row in found["items"]] == [
        ("a/test_cart.py", 2, None, ["stripe", "Cart.add"]),
        ("b/large.py", 0, "too_large", []),
        ("b/test_price.py", 1, None, ["Price.round"]),
    ]


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("about=CART", ["a/test_cart.py"]),
        ("path=B/", ["b/large.py", "b/test_price.py"]),
        ("path=b&about=round", ["b/test_price.py"]),
        ("about=100%25", []),
    ],
)
def test_files_are_found_by_path_and_by_what_they_are_about(web: Web, query: str, paths: list[str]) -> None:
    found = web.client.get(f"{completed(web)}?{query}").json
    assert ([row["file"] for row in found["items"]], found["total"]) == (paths, len(paths))


def test_files_come_in_pages(web: Web) -> None:
    path, seen, cursor = completed(web), [], ""
    while cursor is not None:
        page = web.client.get(f"{path}?limit=1&cursor={cursor}").json
        seen += [row["file"] for row in page["items"]]
        cursor = page["next"]
    assert seen == ["a/test_cart.py", "b/large.py", "b/test_price.py"]
    assert web.client.get(f"{path}?cursor=x").status_code == 422


def test_files_of_an_unfinished_job_are_409(web: Web) -> None:
    job_id = web.submit().json["id"]
    assert web.client.get(f"/api/v1/analyses/{job_id}/files").status_code == 409
