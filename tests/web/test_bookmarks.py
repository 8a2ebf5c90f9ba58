"""Bookmarks: added and removed as often as one likes, and only of what the account may see."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from service_harness.application import Web, commit_of
from service_harness.inventories import a_test, file
from sqlalchemy import text

from app.services.accounts import forget
from app.services.operations.prune import CODEBASES_LIVE, prune

SHOP = "/api/v1/me/bookmarks/github.com/acme/shop"
LIST = "/api/v1/me/bookmarks"


def names(web: Web, headers: dict[str, str], query: str = "") -> list[str]:
    answer = web.client.get(f"{LIST}{query}", headers=headers)
    assert answer.status_code == 200, answer.text
    return [item["repository"]["name"] for item in answer.json["items"]]


def private(web: Web) -> None:
    with web.uow.begin() as tx:
        tx.run(text("UPDATE codebases SET is_private = true"))


def count(web: Web, table: str) -> int:
    with web.uow.begin() as tx:
        return int(tx.run(text(f"SELECT count(*) FROM {table}")).scalar_one())


def test_a_bookmark_is_added_and_removed_as_often_as_one_likes(web: Web) -> None:
    web.submit("shop")
    headers = web.token()
    first, again = (web.client.put(SHOP, headers=headers) for _ in range(2))
    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json == again.json == web.client.get(SHOP, headers=headers).json
    assert first.json["newest"] is None
    assert names(web, headers) == ["shop"]
    assert [web.client.delete(SHOP, headers=headers).status_code for _ in range(2)] == [204, 204]
    assert names(web, headers) == []
    assert web.client.get(SHOP, headers=headers).status_code == 404


def test_a_bookmark_is_of_the_repository_whatever_the_case_and_of_its_owner_alone(web: Web) -> None:
    web.submit("shop")
    ann, bob = web.token(), web.token()
    made = web.client.put("/api/v1/me/bookmarks/github.com/ACME/Shop", headers=ann)
    assert made.json["repository"] == {
        "host": "github.com", "owner": "acme", "name": "shop", "url": "https://github.com/acme/shop", "private": False,
    }  # fmt: skip
    assert (names(web, ann), names(web, bob)) == (["shop"], [])
    web.client.delete(SHOP, headers=bob)
    assert names(web, ann) == ["shop"]


def test_the_list_has_the_numbers_of_the_newest_result_of_the_default_branch(web: Web) -> None:
    headers = web.token(web.user().user_id)
    older = web.submit("shop", headers).json["id"]
    web.completed(older)
    web.client.put(SHOP, headers=headers)
    newer = web.submit("shop", headers, commit="b" * 40).json["id"]
    web.completed(newer, [file("tests/test_one.py", a_test("test_one"))])
    web.submit("shop", headers, commit="c" * 40)  # has no result
    [item] = web.client.get(LIST, headers=headers).json["items"]
    shown = web.client.get("/api/v1/repositories/github.com/acme/shop").json["newest"]
    assert item["newest"]["id"] == shown["id"] == newer
    assert {name: item["newest"][name] for name in ("commit", "summary", "links", "outdated")} == {
        name: shown[name] for name in ("commit", "summary", "links", "outdated")
    }
    with web.uow.begin() as tx:  # the older one is of the default branch
        tx.run(text("UPDATE codebases SET default_branch = 'main'"))
        tx.run(text("UPDATE analysis_requests SET ref = 'topic' WHERE job_id = :id"), id=newer)
    [item] = web.client.get(LIST, headers=headers).json["items"]
    assert (item["newest"]["id"], item["newest"]["commit"]) == (older, commit_of("shop"))
    assert web.client.get("/api/v1/repositories/github.com/acme/shop").json["newest"]["id"] == older


def test_bookmarks_come_in_pages_newest_first(web: Web) -> None:
    headers = web.token()
    for name in ("one", "two", "three"):
        web.submit(name, web.token())
        web.client.put(f"/api/v1/me/bookmarks/github.com/acme/{name}", headers=headers)
    page = web.client.get(f"{LIST}?limit=2", headers=headers).json
    assert [item["repository"]["name"] for item in page["items"]] == ["three", "two"]
    assert names(web, headers, f"?limit=2&cursor={page['next']}") == ["one"]
    assert web.client.get(f"{LIST}?limit=3", headers=headers).json["next"] is None


@pytest.mark.parametrize("where", ["github.com/acme/nowhere", "github.com/acme/no%20name", "nowhere/a/b"])
def test_a_repository_that_was_never_analysed_cannot_be_marked(web: Web, where: str) -> None:
    answer = web.client.put(f"/api/v1/me/bookmarks/{where}", headers=web.token())
    assert (answer.status_code, answer.json["type"]) == (404, "/problems/not-found")
    assert count(web, "bookmarks") == 0


def test_a_private_repository_can_be_marked_by_those_who_analysed_it_alone(web: Web) -> None:
    ann, bob = web.token(web.user().user_id), web.token()
    web.completed(web.submit("shop", ann).json["id"])
    private(web)
    absent = web.client.put("/api/v1/me/bookmarks/github.com/acme/nowhere", headers=bob)
    refused = web.client.put(SHOP, headers=bob)
    assert refused.status_code == absent.status_code == 404
    assert refused.json["detail"] == absent.json["detail"]
    assert web.client.put(SHOP, headers=ann).json["repository"]["private"] is True
    assert web.client.get(SHOP, headers=ann).json["newest"]["summary"]["tests"] == 3
    assert web.client.delete(SHOP, headers=bob).status_code == 204
    assert names(web, ann) == ["shop"]


def test_a_repository_that_became_private_disappears_from_the_bookmarks_of_others(web: Web) -> None:
    ann, bob = web.token(web.user().user_id), web.token()
    web.submit("shop", ann)
    web.client.put(SHOP, headers=bob)
    private(web)
    assert names(web, bob) == []
    assert web.client.get(SHOP, headers=bob).status_code == 404


def test_of_a_private_repository_only_ones_own_results_are_shown(web: Web) -> None:
    ann, bob = web.token(web.user().user_id), web.token(web.user().user_id)
    mine = web.submit("shop", ann).json["id"]
    web.completed(mine)
    web.completed(web.submit("shop", bob, commit="b" * 40).json["id"])
    private(web)
    web.client.put(SHOP, headers=ann)
    assert web.client.get(SHOP, headers=ann).json["newest"]["id"] == mine


def test_bookmarks_need_a_person_and_scopes(web: Web) -> None:
    web.submit("shop")
    user = web.user()
    reader, writer = web.token(user.user_id, "read"), web.token(user.user_id, "write")
    assert (web.client.get(LIST).status_code, web.client.put(SHOP).status_code) == (401, 401)
    assert (web.client.get(LIST, headers=writer).status_code, web.client.put(SHOP, headers=reader).status_code) == (
        403,
        403,
    )
    assert web.client.delete(SHOP, headers=reader).status_code == 403
    web.sign_in(user)  # a cookie alone reads
    assert (web.client.get(LIST).status_code, web.client.put(SHOP).status_code) == (200, 401)


def test_a_bookmark_keeps_the_repository_and_goes_with_its_account(web: Web) -> None:
    marker = web.user()
    web.submit("shop", web.token())
    web.client.put(SHOP, headers=web.token(marker.user_id))
    with web.uow.begin() as tx:  # nobody wants its jobs any more
        tx.run(text("DELETE FROM kombu_message"))
        tx.run(text("DELETE FROM analysis_requests"))
        tx.run(text("DELETE FROM quota_reservations"))
    later = datetime.now(UTC) + CODEBASES_LIVE + timedelta(days=1)
    assert (prune(web.uow, now=later).codebases, count(web, "codebases")) == (0, 1)
    forget.forget(web.uow, marker.user_id, actor="test", now=datetime.now(UTC))
    assert count(web, "bookmarks") == 0
    assert (prune(web.uow, now=later).codebases, count(web, "codebases")) == (1, 0)


def test_the_bookmark_of_a_private_repository_that_nobody_may_see_does_not_keep_it(web: Web) -> None:
    web.submit("shop", web.token())
    web.client.put(SHOP, headers=web.token())
    private(web)
    with web.uow.begin() as tx:
        tx.run(text("DELETE FROM kombu_message"))
        tx.run(text("DELETE FROM analysis_requests"))
        tx.run(text("DELETE FROM quota_reservations"))
    assert prune(web.uow, now=datetime.now(UTC)).codebases == 1
    assert count(web, "bookmarks") == 0
