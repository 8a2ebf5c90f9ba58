"""A result of a private repository stays with those who asked for it, however a commit is submitted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from service_harness.application import POLICY, Web, commit_of
from sqlalchemy import text
from werkzeug.test import TestResponse

from app.domain.repositories import Repository
from app.errors import RepositoryNotFound
from app.services.analyses import existing, submit
from app.services.analyses.join import join
from app.services.analyses.submission import Wanted, submission_of
from app.store.accounts import users
from app.store.repositories import codebases
from tests.tiers import few

SHOP = Repository("github.com", "acme", "shop")
COMMIT = commit_of("shop")

#: How a stranger submits the commit; -> the status of the answer, and the answer.
Way = Callable[[Web, dict[str, str] | None, Any], tuple[int, TestResponse]]


def alone(web: Web, headers: dict[str, str] | None, members: Any) -> tuple[int, TestResponse]:
    answer = web.app.test_client().post(
        "/api/v1/analyses", json={"repository": "acme/shop", "commit": COMMIT, **members}, headers=headers
    )
    return answer.status_code, answer


def in_a_batch(web: Web, headers: dict[str, str] | None, members: Any) -> tuple[int, TestResponse]:
    body = {"items": [{"repository": "acme/shop", "commit": COMMIT, **members}]}
    answer = web.app.test_client().post("/api/v1/analyses/batch", json=body, headers=headers)
    return answer.json["items"][0]["status"], answer


WAYS = pytest.mark.parametrize("way", [alone, in_a_batch])


def hide(web: Web, *, private: bool = True) -> None:
    with web.uow.begin() as tx:
        tx.run(text("UPDATE codebases SET is_private = :private"), private=private)


def owned(web: Web, end: str) -> tuple[str, dict[str, str]]:
    """A job of the private repository, and its owner's header.  end: what became of it."""
    owner = web.token()
    job_id: str = web.submit("shop", owner, commit=COMMIT).json["id"]
    if end != "queued":
        {"completed": web.completed, "failed": web.failed, "running": web.started}[end](job_id)
    hide(web)
    return job_id, owner


@WAYS
@pytest.mark.parametrize("end", few(1, ["completed", "failed", "queued", "running"]))
@pytest.mark.parametrize("visitor", [True, False])
def test_a_stranger_who_knows_the_commit_gets_no_job(web: Web, way: Way, end: str, visitor: bool) -> None:
    job_id, _ = owned(web, end)
    stranger = None if visitor else web.token()
    status, answer = way(web, stranger, {})
    assert status == 404
    assert job_id not in answer.text
    assert web.client.get(f"/api/v1/analyses/{job_id}", headers=stranger).status_code == 404
    assert web.client.get(f"/api/v1/analyses/{job_id}/tests", headers=stranger).status_code == 404


@WAYS
def test_a_stranger_cannot_start_a_failed_job_of_it_again(web: Web, way: Way) -> None:
    job_id, _ = owned(web, "failed")
    status, answer = way(web, web.token(), {"retry": True})
    assert status == 404
    assert job_id not in answer.text


@WAYS
def test_a_stranger_cannot_tell_an_analysed_commit_from_another(web: Web, way: Way) -> None:
    owned(web, "completed")
    refused, other = way(web, web.token(), {}), way(web, web.token(), {"commit": "0" * 40})
    assert refused[0] == other[0] == 404


@WAYS
@pytest.mark.parametrize(("end", "status"), [("completed", 200), ("failed", 200), ("queued", 202)])
def test_who_asked_for_it_gets_it_again(web: Web, way: Way, end: str, status: int) -> None:
    job_id, owner = owned(web, end)
    again = way(web, owner, {})
    assert again[0] == status
    assert job_id in again[1].text


def test_who_asked_for_another_commit_of_it_goes_on_with_a_new_one_and_not_with_anothers(web: Web) -> None:
    job_id, _ = owned(web, "completed")
    hide(web, private=False)
    member = web.token()
    assert web.submit("shop", member, commit="1" * 40).status_code == 202
    hide(web)
    assert web.submit("shop", member, commit="2" * 40).status_code == 202
    refused = web.submit("shop", member, commit=COMMIT)
    assert refused.status_code == 404
    assert job_id not in refused.text


def test_a_host_that_names_a_new_commit_lets_it_be_analysed(web: Web) -> None:
    owned(web, "completed")
    stranger = web.token()
    assert web.submit("shop", stranger, ref="dev").status_code == 202
    assert web.submit("shop", stranger).status_code == 404  # the commit of the other's result


@WAYS
@pytest.mark.parametrize(("end", "status"), [("completed", 200), ("running", 202)])
def test_an_operator_sees_it_all_the_same(web: Web, way: Way, end: str, status: int) -> None:
    job_id, _ = owned(web, end)
    operator = web.token(web.user(is_operator=True).user_id, "read", "write", "operator")
    answered, answer = way(web, operator, {})
    assert answered == status
    assert job_id in answer.text


@WAYS
@pytest.mark.parametrize("end", ["completed", "running"])
def test_an_operators_token_without_the_scope_opens_no_result_of_others(web: Web, way: Way, end: str) -> None:
    job_id, _ = owned(web, end)
    reader = web.token(web.user(is_operator=True).user_id, "read", "write", "operator:read")
    assert way(web, reader, {})[0] == 404
    assert web.client.get(f"/api/v1/analyses/{job_id}", headers=reader).status_code == 404


def test_the_services_refuse_by_themselves(web: Web) -> None:
    owned(web, "completed")
    account = web.user()
    assert existing.of_commit(web.uow, account, SHOP, COMMIT, POLICY) is None
    with pytest.raises(RepositoryNotFound):
        submit.submit(web.uow, account.user_id, Wanted(SHOP, COMMIT), POLICY)


def test_a_join_refuses_by_itself_because_another_publish_may_win(web: Web) -> None:
    job_id, _ = owned(web, "queued")
    stranger = web.user()
    with web.uow.begin() as tx:
        account, codebase = users.lock(tx, stranger.user_id), codebases.find(tx, SHOP)
        assert account
        assert codebase
        given = submission_of(account, codebase, Wanted(SHOP, COMMIT), POLICY, now=web.uow.now())
        with pytest.raises(RepositoryNotFound):
            join(tx, given, UUID(job_id))


def test_a_public_result_is_still_for_everybody(web: Web) -> None:
    job_id, _ = owned(web, "completed")
    hide(web, private=False)
    assert UUID(web.submit("shop", web.token(), commit=COMMIT).json["id"]) == UUID(job_id)
    assert alone(web, None, {})[0] == 200
