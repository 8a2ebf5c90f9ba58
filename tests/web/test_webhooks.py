"""Webhooks by the API and by the pages: the owner's alone, with a secret that is shown once."""

from __future__ import annotations

import json
import re
from uuid import uuid4

import pytest
from service_harness.application import Web
from werkzeug.test import TestResponse

from app.domain.webhooks import EVENTS, MOST_WEBHOOKS
from app.services.accounts import export, forget
from app.services.operations.prune import prune

URL = "https://hooks.example.org/fairlane"
LIST = "/api/v1/me/webhooks"
SECRET = re.compile(r"whsec_[A-Za-z0-9+/]{43}=")


def add(web: Web, headers: dict[str, str], **members: object) -> dict[str, object]:
    answer = web.client.post(LIST, json={"url": URL, **members}, headers=headers)
    assert answer.status_code == 201, answer.text
    assert answer.headers["Location"] == f"{LIST}/{answer.json['id']}"
    return dict(answer.json)


def rows(web: Web, query: str) -> list[object]:
    from sqlalchemy import text

    with web.uow.begin() as tx:
        return list(tx.run(text(query)).scalars())


def test_a_webhook_is_created_read_changed_and_deleted(web: Web) -> None:
    headers = web.token()
    made = add(web, headers, description="shop")
    assert SECRET.fullmatch(str(made.pop("secret")))
    assert (made["events"], made["enabled"], made["description"]) == (list(EVENTS), True, "shop")
    one = f"{LIST}/{made['id']}"
    assert web.client.get(one, headers=headers).json == made
    assert web.client.get(LIST, headers=headers).json == {"items": [made]}
    changed = web.client.patch(one, json={"events": ["analysis.failed"]}, headers=headers).json
    assert changed == made | {"events": ["analysis.failed"]}
    off = web.client.patch(one, json={"enabled": False}, headers=headers).json
    assert (off["enabled"], off["disabled_because"]) == (False, "owner")
    whole = {"url": f"{URL}/2", "events": [], "enabled": True, "description": ""}
    put = web.client.put(one, json=whole, headers=headers).json
    assert {name: put[name] for name in whole} == whole | {"events": list(EVENTS)}
    assert web.client.put(one, json={"url": URL}, headers=headers).status_code == 422
    assert web.client.delete(one, headers=headers).status_code == 204
    assert web.client.get(one, headers=headers).status_code == 404
    assert web.client.delete(one, headers=headers).status_code == 404


def test_the_secret_is_stored_encrypted_and_shown_once(web: Web) -> None:
    headers = web.token()
    made = add(web, headers)
    one, secret = f"{LIST}/{made['id']}", str(made["secret"])
    for path in (one, LIST, f"{one}/deliveries"):
        assert secret.removeprefix("whsec_") not in web.client.get(path, headers=headers).text
    assert all(
        secret.removeprefix("whsec_").encode() not in bytes(found) for found in rows(web, "SELECT secret FROM webhooks")
    )
    rotated = web.client.post(f"{one}/secret", headers=headers)
    assert rotated.status_code == 200
    assert SECRET.fullmatch(rotated.json["secret"])
    assert rotated.json["secret"] != secret
    assert web.client.get(one, headers=headers).json["old_secret_until"] == rotated.json["old_secret_until"]


def test_a_webhook_is_its_owners_alone(web: Web) -> None:
    ann, bob = web.token(), web.token()
    one = f"{LIST}/{add(web, ann)['id']}"
    assert web.client.get(LIST, headers=bob).json == {"items": []}
    asked = [
        ("GET", one, None), ("PATCH", one, {"enabled": False}), ("DELETE", one, None), ("POST", f"{one}/secret", None),
        ("POST", f"{one}/test", None), ("GET", f"{one}/deliveries", None), ("POST", f"{one}/deliveries/1/replay", None),
    ]  # fmt: skip
    for method, path, body in asked:
        assert web.client.open(path, method=method, json=body, headers=bob).status_code == 404, (method, path)
        assert web.client.open(path, method=method, json=body).status_code == 401, (method, path)
    reader = web.token(web.user().user_id, "read")
    assert web.client.post(LIST, json={"url": URL}, headers=reader).status_code == 403
    assert web.client.get(one, headers=ann).json["enabled"] is True


def test_an_account_has_ten_webhooks_at_most(web: Web) -> None:
    headers = web.token()
    for _ in range(MOST_WEBHOOKS):
        add(web, headers)
    answer = web.client.post(LIST, json={"url": URL}, headers=headers)
    assert (answer.status_code, answer.json["type"]) == (409, "/problems/too-many-webhooks")


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.org/", "https://hooks.example.org:8443/", "https://127.0.0.1/", "https://localhost/",
        "https://10.1.2.3/", "https://169.254.169.254/latest", "https://[::1]/", "https://[fd00::1]/", "https://[fe80::1]/",
        "https://[::ffff:10.0.0.1]/", "https://224.0.0.1/", "https://intranet/", "https://shop.local/", "ftp://example.org/",
        "https://user:password@example.org/", "https://example.org/#part", "https://", "https://exa mple.org/", "javascript:alert(1)",
        "https://example.org\\@10.0.0.1/", "https://2130706433/", "https://0x7f.1/", "https://127.1/", "https://" + "a" * 500 + ".org/",
    ],
)  # fmt: skip
def test_an_address_that_may_not_be_told_is_refused(web: Web, url: str) -> None:
    answer = web.client.post(LIST, json={"url": url}, headers=web.token())
    assert answer.status_code == 422, answer.text
    assert [error["pointer"] for error in answer.json["errors"]] == ["/url"]


def test_unknown_events_are_refused(web: Web) -> None:
    answer = web.client.post(LIST, json={"url": URL, "events": ["analysis.started"]}, headers=web.token())
    assert answer.status_code == 422
    assert answer.json["errors"][0]["pointer"].startswith("/events")


def send_test(web: Web, one: str, headers: dict[str, str]) -> TestResponse:
    """A test that a worker has sent."""
    answer = web.client.post(f"{one}/test", headers=headers)
    rows(web, "UPDATE webhook_deliveries SET status = 'delivered', due_at = NULL RETURNING id")
    return answer


def test_a_second_test_is_refused_while_one_is_pending(web: Web) -> None:
    person = web.user()
    web.sign_in(person)
    headers = web.token(person.user_id)
    one = f"{LIST}/{add(web, headers)['id']}"
    first = web.client.post(f"{one}/test", headers=headers)
    again = web.client.post(f"{one}/test", headers=headers)
    assert (first.status_code, again.status_code) == (202, 409)
    assert again.json["detail"] == "A test event is already pending; the log shows when it is sent"
    assert web.client.post(f"{one}/deliveries/{first.json['id']}/replay", headers=headers).status_code == 202
    page = one.removeprefix("/api/v1/me").replace("/webhooks", "/account/webhooks")
    told = web.post(f"{page}/test", page)
    assert (told.status_code, "A test event is already pending" in told.text) == (409, True)
    assert rows(web, "SELECT count(*) FROM webhook_deliveries") == [1]


def test_the_log_has_pages_and_a_delivery_can_be_sent_again(web: Web) -> None:
    headers = web.token()
    made = add(web, headers)
    one = f"{LIST}/{made['id']}"
    sent = [send_test(web, one, headers) for _ in range(3)]
    assert [answer.status_code for answer in sent] == [202] * 3
    assert {answer.json["status"] for answer in sent} == {"pending"}
    first = web.client.get(f"{one}/deliveries?limit=2", headers=headers).json
    assert [item["id"] for item in first["items"]] == [sent[2].json["id"], sent[1].json["id"]]
    second = web.client.get(f"{one}/deliveries?limit=2&cursor={first['next']}", headers=headers).json
    assert ([item["id"] for item in second["items"]], second["next"]) == ([sent[0].json["id"]], None)
    again = web.client.post(f"{one}/deliveries/{sent[0].json['id']}/replay", headers=headers)
    assert (again.status_code, again.json["webhook_id"]) == (202, sent[0].json["webhook_id"])
    assert web.client.post(f"{one}/deliveries/{2**70}/replay", headers=headers).status_code == 404
    assert rows(web, "SELECT count(*) FROM kombu_message") == [1]
    web.client.patch(one, json={"enabled": False}, headers=headers)
    assert web.client.post(f"{one}/test", headers=headers).status_code == 409


def test_the_pages_do_what_the_api_does(web: Web) -> None:
    person = web.user()
    web.sign_in(person)
    page = web.post("/account/webhooks", "/account/webhooks", url=URL, event="analysis.failed", description="shop")
    assert page.status_code == 200
    assert SECRET.search(page.text)
    [webhook_id] = rows(web, "SELECT id FROM webhooks")
    one = f"/account/webhooks/{webhook_id}"
    assert not SECRET.search(web.client.get(one).text)
    assert "analysis.failed" in web.client.get(one).text
    assert web.post(f"{one}/test", one).status_code == 303
    [delivery_id] = rows(web, "SELECT id FROM webhook_deliveries")
    assert "webhook.test" in web.client.get(one).text
    assert web.post(f"{one}/deliveries/{delivery_id}/replay", one).status_code == 303
    assert SECRET.search(web.post(f"{one}/secret", one).text)
    assert web.post(f"{one}/disable", one).status_code == 303
    assert "You disabled it." in web.client.get(one).text
    assert web.post(f"{one}/enable", one).status_code == 303
    changed = web.post(one, one, url=f"{URL}/2", description="")
    assert changed.status_code == 303
    assert rows(web, "SELECT url FROM webhooks") == [f"{URL}/2"]
    refused = web.post(one, one, url="https://10.0.0.1/", description="")
    assert refused.status_code == 422
    assert 'value="https://10.0.0.1/"' in refused.text
    assert web.post(f"{one}/delete", one).status_code == 303
    assert "You have no webhooks" in web.client.get("/account/webhooks").text
    assert web.client.get(f"/account/webhooks/{uuid4()}").status_code == 404


def test_pages_of_webhooks_need_a_person_and_a_form_token(web: Web) -> None:
    assert web.client.get("/account/webhooks").status_code in (302, 303, 401)
    web.sign_in(web.user())
    assert web.client.post("/account/webhooks", data={"url": URL}).status_code == 400


def test_answers_of_receivers_are_shown_as_text(web: Web) -> None:
    person = web.user()
    web.sign_in(person)
    headers = web.token(person.user_id)
    one = f"{LIST}/{add(web, headers)['id']}"
    web.client.post(f"{one}/test", headers=headers)
    hostile = "<script>alert(1)</script>\u202e"
    rows(
        web,
        f"UPDATE webhook_deliveries SET attempted_at = now(), attempts = 1, answer = '{hostile}', status_code = 500,"
        " latency_ms = 3, fault = 'refused' RETURNING id",
    )
    page = web.client.get(one.removeprefix("/api/v1/me").replace("/webhooks", "/account/webhooks")).text
    assert "<script>alert" not in page
    assert "\u202e" not in page
    assert "&lt;script&gt;" in page


def test_export_deletion_and_retention_include_webhooks(web: Web) -> None:
    person = web.user()
    headers = web.token(person.user_id)
    made = add(web, headers)
    for _ in range(2):
        send_test(web, f"{LIST}/{made['id']}", headers)
    rows(
        web,
        "UPDATE webhook_deliveries SET happened_at = now() - interval '31 days' WHERE id IN (SELECT min(id) FROM webhook_deliveries) RETURNING id",
    )
    parts = {part: [json.loads(row) for row in found] for part, found in export.parts(web.uow, person.user_id)}
    assert [row["url"] for row in parts["webhooks"]] == [URL]
    assert len(parts["webhook_deliveries"]) == 2
    assert "secret" not in parts["webhooks"][0]
    assert prune(web.uow, now=web.uow.now()).webhook_deliveries == 1
    assert rows(web, "SELECT count(*) FROM webhook_deliveries") == [1]
    forget.forget(web.uow, person.user_id, actor="test", now=web.uow.now())
    assert rows(web, "SELECT count(*) FROM webhooks") == rows(web, "SELECT count(*) FROM webhook_deliveries") == [0]
