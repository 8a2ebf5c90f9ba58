"""The operator's pages, as a person without JavaScript uses them."""

from __future__ import annotations

from uuid import uuid4

from tests.web.conftest import Web


def test_an_operator_sees_who_waits_and_changes_limits_on_their_pages(web: Web) -> None:
    web.sign_in(web.user(is_operator=True))
    user = web.user()
    header = web.token(user.user_id)
    web.started(web.submit("one", header).json["id"])
    for number in range(4):
        web.submit(f"more{number}", header)
    page = web.client.get("/operator").text
    assert user.email in page
    assert "1 of 1" in page
    own = f"/operator/users/{user.user_id}"
    assert web.post(f"{own}/limit", limit="2").status_code == 303
    assert "2 at once, a limit of their own" in web.client.get(own).text
    assert web.post(f"{own}/limit", limit="").status_code == 303
    assert web.post(f"{own}/tier", tier="pro").status_code == 303
    shown = web.client.get(own).text
    assert "tier pro" in shown
    assert "3 at once" in shown
    assert web.post("/operator/queues/analysis_default/pause", paused="true").status_code == 303
    assert 'aria-label="Open analysis_default"' in web.client.get("/operator").text
    assert web.post("/operator/tiers/pro/limit", limit="0").status_code == 422


def test_the_operators_pages_are_for_operators(web: Web) -> None:
    assert web.client.get("/operator").status_code == 401
    web.sign_in(web.user())
    other = web.user()
    paths = ("/operator", f"/operator/users/{other.user_id}")
    assert [web.client.get(path).status_code for path in paths] == [403, 403]
    assert "/operator" not in web.client.get("/").text
    assert web.post(f"/operator/users/{other.user_id}/tier", tier="pro").status_code == 403


def test_a_user_that_is_not_there_has_no_page(web: Web) -> None:
    web.sign_in(web.user(is_operator=True))
    assert web.client.get(f"/operator/users/{uuid4()}").status_code == 404
