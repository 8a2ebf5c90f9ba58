"""Passkeys through the pages, with an authenticator in software."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import SecretStr
from service_harness.application import Web, csrf
from werkzeug.test import TestResponse

from app.services.accounts import passkeys, passwords, sign_in_methods, sign_up
from tests.rate_buckets import refill_nothing
from tests.tiers import few
from tests.web.authenticators import PRESENT, Authenticator
from tests.web.conftest import rows
from tests.web.test_passwords import EMAIL, PASSWORD, cookie, send

KINDS = {"register": "/account/passkeys", "sign in": "/sign-in/passkey", "sign up": "/sign-up/passkey"}


@pytest.fixture
def web(make_web: Callable[..., Web]) -> Web:
    return make_web(sign_up="open")


def page_of(path: str) -> str:
    return path.removesuffix("/passkeys").removesuffix("/passkey")


def options(web: Web, path: str, **fields: str) -> dict[str, Any]:
    answer = web.post(f"{path}/options", page_of(path), **fields)
    assert answer.status_code == 200, answer.text
    return dict(json.loads(answer.text))


def register(web: Web, key: Authenticator, name: str = "My phone") -> TestResponse:
    answer = key.create(options(web, KINDS["register"]))
    return web.post(KINDS["register"], "/account", credential=answer, name=name)


def sign_in(web: Web, key: Authenticator) -> TestResponse:
    answer = key.get(options(web, KINDS["sign in"]))
    return web.post(KINDS["sign in"], "/sign-in", credential=answer)


@pytest.fixture
def key(web: Web) -> Authenticator:
    """Registered with the account of somebody who is signed out now."""
    key = Authenticator()
    send(web, "/sign-up")
    assert register(web, key).status_code == 303
    web.post("/sign-out")
    return key


def test_a_person_adds_a_passkey_and_signs_in_with_it(web: Web, key: Authenticator) -> None:
    assert sign_in(web, key).status_code == 303
    page = web.client.get("/account").text
    assert EMAIL in page
    assert "My phone" in page
    assert rows(web, "SELECT sign_count, last_used_at IS NULL AS unused FROM passkeys") == [(1, False)]


def test_options_ask_for_discoverable_keys_and_require_verification(web: Web) -> None:
    send(web, "/sign-up")
    first = options(web, KINDS["register"])
    assert first["authenticatorSelection"]["residentKey"] == "required"
    assert first["authenticatorSelection"]["userVerification"] == "required"
    assert first["rp"] == {"id": "localhost", "name": "Fairlane"}
    key = Authenticator()
    register(web, key)
    assert [one["id"] for one in options(web, KINDS["register"])["excludeCredentials"]] == [
        json.loads(key.create(first))["id"]
    ]
    web.post("/sign-out")
    asked = options(web, KINDS["sign in"])
    assert (asked["rpId"], asked["userVerification"], asked["allowCredentials"]) == ("localhost", "required", [])
    assert asked["challenge"] != options(web, KINDS["sign in"])["challenge"]


def test_a_person_signs_up_with_a_passkey_alone(web: Web) -> None:
    key = Authenticator()
    asked = options(web, KINDS["sign up"], email="eve@example.org")
    answer = web.post(KINDS["sign up"], "/sign-up", credential=key.create(asked))
    assert (answer.status_code, answer.location) == (303, "/")
    assert "eve@example.org" in web.client.get("/").text
    assert rows(web, "SELECT u.id = p.user_id AS same FROM users u, passkeys p WHERE u.kind = 'person'") == [(True,)]
    web.post("/sign-out")
    assert sign_in(web, key).status_code == 303


def test_a_taken_address_gets_no_passkey(web: Web, key: Authenticator) -> None:
    other = Authenticator()
    answer = web.post(
        KINDS["sign up"], "/sign-up", credential=other.create(options(web, KINDS["sign up"], email=EMAIL))
    )
    assert answer.status_code == 409
    assert sign_up.TAKEN in answer.text
    assert sign_in(web, other).status_code == 401


@pytest.mark.parametrize("wrong", [
    {"origin": "https://evil.example"}, {"rp_id": "evil.example"}, {"flags": 0}, {"counter": -1}, {"handle": b"x" * 16},
])  # fmt: skip
def test_a_wrong_answer_opens_nothing(web: Web, key: Authenticator, wrong: dict[str, Any]) -> None:
    assert sign_in(web, key).status_code == 303
    web.post("/sign-out")
    for name, value in wrong.items():
        setattr(key, name, value)
    assert sign_in(web, key).status_code in {401, 422}
    assert EMAIL not in web.client.get("/").text


def test_the_signature_of_another_key_opens_nothing(web: Web, key: Authenticator) -> None:
    key.key = Authenticator().key
    assert sign_in(web, key).status_code == 422


def test_whoever_finds_a_key_does_not_get_in_by_touching_it(web: Web, key: Authenticator) -> None:
    key.flags = PRESENT
    assert sign_in(web, key).status_code == 422
    send(web, "/sign-in/password")
    assert register(web, Authenticator(flags=PRESENT)).status_code == 422
    asked = options(web, KINDS["sign up"], email="eve@example.org")
    made = Authenticator(flags=PRESENT).create(asked)
    assert web.post(KINDS["sign up"], "/sign-up", credential=made).status_code == 422
    assert len(rows(web, "SELECT 1 FROM passkeys")) == 1


@pytest.mark.parametrize(("length", "status"), [(1023, 303), (1024, 422), (2705, 422), (4000, 422)])
def test_the_id_of_a_credential_has_at_most_1023_bytes(web: Web, length: int, status: int) -> None:
    send(web, "/sign-up")
    assert register(web, Authenticator(id=b"x" * length)).status_code == status
    asked = options(web, KINDS["sign up"], email="eve@example.org")
    made = Authenticator(id=b"y" * length).create(asked)
    assert web.post(KINDS["sign up"], "/sign-up", credential=made).status_code == status


@pytest.mark.parametrize("cose", [
    {1: 2, 3: -7, -1: 1, -2: b"\1" * 32, -3: b"\2" * 32},  # not on the curve
    {1: 3, 3: -257, -1: (2**2047 + 1).to_bytes(256), -2: b"\0\0\1"},  # RSA with e = 1
    {1: 1, 3: -8, -1: 6, -2: b"\1" * 31},
])  # fmt: skip
def test_a_key_that_could_never_verify_anything_is_not_stored(web: Web, cose: dict[int, Any]) -> None:
    send(web, "/sign-up")
    assert register(web, Authenticator(cose=cose)).status_code == 422
    assert rows(web, "SELECT 1 FROM passkeys") == []


def test_authenticators_that_do_not_count_sign_in_again_and_again(web: Web) -> None:
    key = Authenticator(step=0)
    send(web, "/sign-up")
    register(web, key)
    for _ in range(2):
        web.post("/sign-out")
        assert sign_in(web, key).status_code == 303


def test_an_answer_works_once_even_in_the_browser_that_gave_it(web: Web) -> None:
    key = Authenticator(step=0)  # so that the counter does not refuse it
    send(web, "/sign-up")
    register(web, key)
    web.post("/sign-out")
    asked = options(web, KINDS["sign in"])
    before, form, answer = cookie(web), csrf(web.client.get("/sign-in")), key.get(asked)
    sent = {"csrf_token": form, "credential": answer}
    assert web.client.post(KINDS["sign in"], data=sent).status_code == 303
    web.client.set_cookie("fairlane", before)  # what the browser held when it was asked
    again = web.client.post(KINDS["sign in"], data=sent)
    assert again.status_code == 422
    assert passkeys.EXPIRED in again.text


def test_a_challenge_belongs_to_its_browser_and_its_purpose(web: Web, key: Authenticator) -> None:
    answer = key.get(options(web, KINDS["sign in"]))
    stranger = web.app.test_client()
    sent = {"csrf_token": csrf(stranger.get("/sign-in")), "credential": answer}
    assert stranger.post(KINDS["sign in"], data=sent).status_code == 422
    other = Authenticator()
    made = other.create(options(web, KINDS["sign up"], email="eve@example.org"))
    assert web.post(KINDS["sign in"], "/sign-in", credential=made).status_code == 422
    assert sign_in(web, key).status_code == 303
    assert web.post(KINDS["register"], "/account", credential=made).status_code == 422


@pytest.mark.parametrize("answer", few(4, [
    "", "{", "[]", "null", '"x"', "{}", '{"id": 1, "response": {}}', '{"id": "\u00e9", "response": {"userHandle": "x"}}',
    '{"id": "AA", "rawId": "AA", "type": "public-key", "response": {}}', "x" * 30_000, "[" * 10_000,
    '{"id": "AA", "rawId": "AA", "type": "public-key", "response": {"clientDataJSON": "AA", "attestationObject": "oA", "authenticatorData": "AA", "signature": "AA"}}',
]))  # fmt: skip
def test_nonsense_is_refused_and_never_a_failure(web: Web, key: Authenticator, answer: str) -> None:
    options(web, KINDS["sign in"])
    assert web.post(KINDS["sign in"], "/sign-in", credential=answer).status_code in {401, 422}
    options(web, KINDS["sign up"], email="eve@example.org")
    assert web.post(KINDS["sign up"], "/sign-up", credential=answer).status_code == 422
    sign_in(web, key)
    options(web, KINDS["register"])
    assert web.post(KINDS["register"], "/account", credential=answer).status_code == 422


def test_damaged_bytes_are_refused_and_never_a_failure(web: Web) -> None:
    send(web, "/sign-up")
    for cut in range(0, 180, 20):
        made = json.loads(Authenticator().create(options(web, KINDS["register"])))
        made["response"]["attestationObject"] = made["response"]["attestationObject"][:cut]
        assert web.post(KINDS["register"], "/account", credential=json.dumps(made)).status_code == 422, cut
    assert rows(web, "SELECT 1 FROM passkeys") == []


def test_a_passkey_belongs_to_one_account_and_an_account_has_only_so_many(
    web: Web, key: Authenticator, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(web, "/sign-up", "eve@example.org")
    assert register(web, key).status_code == 409
    monkeypatch.setattr(passkeys, "MOST", 1)
    assert register(web, Authenticator()).status_code == 303
    assert register(web, Authenticator()).status_code == 409


def test_the_last_way_to_sign_in_is_kept(web: Web) -> None:
    first, second = Authenticator(), Authenticator()
    web.post(KINDS["sign up"], "/sign-up", credential=first.create(options(web, KINDS["sign up"], email=EMAIL)))
    assert register(web, second).status_code == 303
    for status in (303, 409):
        (found,) = rows(web, "SELECT id FROM passkeys ORDER BY created_at LIMIT 1")
        answer = web.post(f"/account/passkeys/{found.id}/remove", "/account")
        assert answer.status_code == status
    assert sign_in_methods.LAST in answer.text
    assert len(rows(web, "SELECT 1 FROM passkeys")) == 1
    web.post("/account/password", "/account", password=PASSWORD)
    assert web.post(f"/account/passkeys/{found.id}/remove", "/account").status_code == 303
    web.post("/sign-out")
    assert sign_in(web, second).status_code == 401


def test_nobody_removes_the_passkey_of_another_person(web: Web, key: Authenticator) -> None:
    (found,) = rows(web, "SELECT id FROM passkeys")
    send(web, "/sign-up", "eve@example.org")
    assert web.post(f"/account/passkeys/{found.id}/remove", "/account").status_code == 404
    web.post("/sign-out")
    assert sign_in(web, key).status_code == 303


def test_the_copy_names_passkeys_and_deleting_the_account_removes_them(web: Web, key: Authenticator) -> None:
    sign_in(web, key)
    found = web.client.get("/account/export.json").json
    assert [one["name"] for one in found["passkeys"]] == ["My phone"]
    assert web.post("/account/delete", "/account", email=EMAIL, current=PASSWORD).status_code == 303
    assert rows(web, "SELECT 1 FROM passkeys UNION ALL SELECT 1 FROM one_time_secrets WHERE user_id IS NOT NULL") == []


@pytest.mark.parametrize(("url", "public", "works"), [
    ("http://localhost", None, True), ("https://fairlane.example.org", "https://fairlane.example.org", True),
    ("http://fairlane.example.org", "https://fairlane.example.org", True),  # the proxy ends TLS
    ("http://127.0.0.1:8000", None, False), ("http://fairlane.example.org", "http://fairlane.example.org", False),
    ("https://192.0.2.1", None, False), ("http://[::1]:8000", None, False),
])  # fmt: skip
def test_passkeys_are_offered_where_a_browser_allows_them(
    make_web: Callable[..., Web], url: str, public: str | None, works: bool
) -> None:
    web = make_web(public_url=public)
    page = web.client.get("/sign-in", base_url=url)
    assert ("data-passkey" in page.text) == works
    assert ("Passkeys work only on https" in page.text) != works
    asked = web.client.post(
        "/sign-in/passkey/options",
        data={"csrf_token": csrf(page)},
        base_url=url,
        headers={"Referer": f"{url}/sign-in"},
    )
    assert asked.status_code == (200 if works else 422), asked.text
    if works:
        assert asked.json["rpId"] == url.partition("://")[2]


def test_asking_is_throttled_and_closed_services_make_no_account(make_web: Callable[..., Web]) -> None:
    web = make_web()
    assert web.post("/sign-up/passkey/options", "/sign-in", email=EMAIL).status_code == 403
    assert web.post("/sign-up/passkey", "/sign-in", credential="{}").status_code == 403
    answers = []
    for _ in range(passwords.PER_ADDRESS + 3):
        refill_nothing(web.uow)
        answers.append(web.post("/sign-in/passkey/options", "/sign-in"))
    assert 429 in [answer.status_code for answer in answers]
    assert "try again" in answers[-1].json["detail"]


@pytest.mark.parametrize("path", [*KINDS.values(), *(f"{path}/options" for path in KINDS.values())])
def test_no_passkey_form_works_without_its_csrf_token(web: Web, path: str) -> None:
    assert web.client.post(path, data={"credential": "{}"}).status_code == 400


def another_network(web: Web) -> None:
    rows(web, "DELETE FROM sign_up_networks RETURNING 1")


def test_a_day_has_only_so_many_sign_ups_of_all_kinds(make_web: Callable[..., Web]) -> None:
    web = make_web(sign_up="open", sign_ups_per_day=2)
    assert send(web, "/sign-up").status_code == 303
    web.post("/sign-out")
    another_network(web)
    assert send(web, "/sign-up").status_code == 409  # a refused one does not count
    made = Authenticator().create(options(web, KINDS["sign up"], email="eve@example.org"))
    assert web.post(KINDS["sign up"], "/sign-up", credential=made).status_code == 303
    web.post("/sign-out")
    rows(web, "DELETE FROM rate_buckets RETURNING 1")  # as if a minute had passed
    another_network(web)
    refused = send(web, "/sign-up", "last@example.org")
    assert refused.status_code == 429
    assert "tomorrow" in refused.text
    assert 0 < int(refused.headers["Retry-After"]) <= 86_401


def test_a_cell_has_its_part_of_a_days_sign_ups(make_web: Callable[..., Web]) -> None:
    cells = SecretStr("eu1=postgresql://a:x@h/one eu2=postgresql://a:x@h/two")
    web = make_web(sign_up="open", sign_ups_per_day=2, cells=cells)
    assert send(web, "/sign-up").status_code == 303
    web.post("/sign-out")
    another_network(web)
    assert send(web, "/sign-up", "last@example.org").status_code == 429
