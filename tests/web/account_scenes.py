"""Signing up, and the page of one's own account, in every state."""

from __future__ import annotations

from datetime import UTC, datetime

from playwright.sync_api import Page
from pydantic import SecretStr
from service_harness.application import Web
from sqlalchemy import text

from app.domain.plans import Tier
from app.services.accounts import github, passwords
from app.store.accounts import passkeys
from tests.web.scenes import Scene


def account(web: Web) -> str:
    person = web.user()
    for _ in range(3):
        web.sign_in(person)
        web.client.delete_cookie("fairlane")
    web.sign_in(person)
    return "/account"


def account_with_a_password(web: Web) -> str:
    person = web.user()
    passwords.replace(web.uow, person.email or "", "correct horse battery", actor="test", now=datetime.now(UTC))
    web.sign_in(person)
    return "/account"


def wrong_confirmation(page: Page) -> None:
    form = page.locator("form[action='/account/delete']")
    form.locator("[name=email]").fill("somebody@example.org")
    form.locator("[name=current]").fill("a wrong password")
    form.locator("button").click()
    page.wait_for_selector("[role=alert]")


def wrong_password(page: Page) -> None:
    page.fill("[name=email]", "somebody@example.org")
    page.fill("[name=password]", "a wrong password")
    page.click("main form button")
    page.wait_for_selector("[role=alert]")


def email_as_password(page: Page) -> None:
    page.fill("[name=email]", "somebody@example.org")
    page.fill("[name=password]", "somebody@example.org")
    page.click("main form button")
    page.wait_for_selector("[role=alert]")


def account_with_passkeys(web: Web) -> str:
    person = web.user()
    web.sign_in(person)
    with web.uow.begin() as tx:
        for number, name in enumerate(
            ("My phone", "A security key with the longest name that somebody gave it", "W" * 60)
        ):
            passkeys.add(
                tx, person.user_id, credential_id=bytes([number]), public_key=b"", sign_count=0, name=name,
                now=datetime.now(UTC),
            )  # fmt: skip
    return "/account"


def unconfirmed_account(web: Web) -> str:
    address = account_with_passkeys(web)
    let_time_pass(web)
    return address


def let_time_pass(web: Web) -> None:
    with web.uow.begin() as tx:
        tx.run(text("UPDATE sessions SET proved_at = proved_at - interval '5 minutes'"))


def confirmation(web: Web) -> str:
    account_with_passkeys(web)
    with web.uow.begin() as tx:
        (email,) = tx.run(text("SELECT u.email FROM passkeys p JOIN users u ON u.id = p.user_id LIMIT 1")).one()
    passwords.replace(web.uow, email, "correct horse battery", actor="test", now=datetime.now(UTC))
    web.client.delete_cookie("fairlane")
    form = {"email": email, "password": "correct horse battery"}
    assert web.post("/sign-in/password", "/sign-in", **form).status_code == 303
    return "/account/confirm"


def confirmation_by_a_link_only(web: Web) -> str:
    web.sign_in(web.user())
    return "/account/confirm"


def unconfirmed_tokens(web: Web) -> str:
    web.sign_in(web.user())
    let_time_pass(web)
    return "/tokens"


def unconfirmed_webhooks(web: Web) -> str:
    web.sign_in(web.user())
    let_time_pass(web)
    return "/account/webhooks"


def wrong_current_password(page: Page) -> None:
    page.fill("[name=current]", "a wrong password")
    page.click("main form button")
    page.wait_for_selector("[role=alert]")


def account_with_github(web: Web) -> str:
    person = web.user()
    web.sign_in(person)
    github.link(
        web.uow, person, github.Identity(7, "ann-with-a-name-of-39-characters-at-most", None), now=datetime.now(UTC)
    )
    return "/account"


def verify(web: Web) -> str:
    web.sign_in(web.user())
    return "/verify?token=x"


def ask_for_a_link(page: Page) -> None:
    page.fill("[name=email]", "somebody@example.org")
    page.click("main form button")
    page.wait_for_selector("[role=status]")


def check_completed(web: Web) -> str:
    web.completed(web.submit("shop").json["id"])
    web.sign_in(web.user())
    return "/?repository=acme/shop"


def press_check(page: Page) -> None:
    page.locator("[data-check]").click()
    page.wait_for_selector("#checked section")


def check_new(web: Web) -> str:
    web.sign_in(web.user())
    return "/?repository=acme/shop"


GITHUB = {"sign_up": "open", "github_client_id": "an-app", "github_client_secret": SecretStr("secret")}


def no_webhooks(web: Web) -> str:
    web.sign_in(web.user())
    return "/account/webhooks"


def several_webhooks(web: Web) -> str:
    person = web.user()
    web.sign_in(person)
    headers = web.token(person.user_id)
    for number in range(10):
        asked = {
            "url": f"https://hooks-{number}.example.org/" + "a-long-path/" * 20,
            "events": ["analysis.completed", "specification.cancelled"],
            "description": "Told to the people who keep the shop running " * 4,
        }
        assert web.client.post("/api/v1/me/webhooks", json=asked, headers=headers).status_code == 201
    change(web, "disabled_at = now(), disabled_because = 'gone' WHERE url LIKE '%hooks-9%'")
    change(web, "failures = 3, failing_since = now() WHERE url LIKE '%hooks-8%'")
    return "/account/webhooks"


def change(web: Web, what: str) -> None:
    with web.uow.begin() as tx:
        tx.run(text(f"UPDATE webhooks SET {what}"))


def one_webhook(web: Web) -> str:
    person = web.user(Tier.PRO)
    web.sign_in(person)
    headers = web.token(person.user_id)
    asked = {"url": "https://hooks.example.org/" + "a-long-path/" * 20, "description": "For the shop"}
    made = web.client.post("/api/v1/me/webhooks", json=asked, headers=headers).json
    for name in ("shop", "till", "stock"):
        web.completed(web.submit(name, headers).json["id"])
    web.client.post(f"/api/v1/me/webhooks/{made['id']}/test", headers=headers)
    with web.uow.begin() as tx:
        tx.run(
            text("""
            UPDATE webhook_deliveries SET attempts = 1, attempted_at = now(), latency_ms = 12345, status_code = 500,
                   fault = 'refused', answer = repeat('an unbreakable_answer_of_a_server_', 30) WHERE id % 2 = 0""")
        )
        tx.run(
            text("""
            UPDATE webhook_deliveries SET attempts = 3, attempted_at = now(), latency_ms = 42, status_code = 204,
                   status = 'delivered', due_at = NULL WHERE id % 2 = 1""")
        )
        tx.run(
            text(
                "UPDATE webhooks SET failures = 2, failing_since = now(), old_secret = secret, "
                "old_secret_until = now() + interval '1 day'"
            )
        )
    return f"/account/webhooks/{made['id']}"


def disabled_webhook(web: Web) -> str:
    address = one_webhook(web)
    change(web, "disabled_at = now(), disabled_because = 'failing'")
    return address


def private_address(page: Page) -> None:
    page.fill("[name=url]", "https://192.168.0.1/")
    page.click("main form.stacked button")
    page.wait_for_selector("[role=alert]")


def rotated(page: Page) -> None:
    page.click("form[action$='/secret'] button")
    page.wait_for_selector("code.secret")


def opened_log(page: Page) -> None:
    page.locator("td details").first.locator("summary").click()


ACCOUNT_SCENES = {
    "guide": Scene("pages.show_guide", lambda _: "/docs"),
    "check of an analysed commit": Scene("pages.home", check_completed, press_check),
    "check of a new commit": Scene("pages.home", check_new, press_check),
    "account with github": Scene("pages.show_account", account_with_github, settings=GITHUB),
    "account without github yet": Scene("pages.show_account", account, settings=GITHUB),
    "sign in by github": Scene("pages.show_sign_in", lambda _: "/sign-in", settings=GITHUB),
    "sign up by github": Scene("pages.show_sign_up", lambda _: "/sign-up", settings=GITHUB),
    "forgotten password": Scene("pages.show_forgot", lambda _: "/forgot"),
    "forgotten password asked for": Scene("pages.show_forgot", lambda _: "/forgot", ask_for_a_link),
    "new password": Scene("pages.show_reset", lambda _: "/reset?token=x"),
    "verify": Scene("pages.show_verify", verify),
    "verify signed out": Scene("pages.show_verify", lambda _: "/verify?token=x"),
    "account with passkeys": Scene("pages.show_account", account_with_passkeys),
    "account to be confirmed": Scene("pages.show_account", unconfirmed_account, settings=GITHUB),
    "tokens to be confirmed": Scene("pages.show_tokens", unconfirmed_tokens),
    "webhooks to be confirmed": Scene("pages.show_webhooks", unconfirmed_webhooks),
    "confirmation": Scene("pages.show_confirmation", confirmation, wrong_current_password, GITHUB),
    "confirmation by a link only": Scene("pages.show_confirmation", confirmation_by_a_link_only),
    "no webhooks": Scene("pages.show_webhooks", no_webhooks, private_address),
    "webhooks": Scene("pages.show_webhooks", several_webhooks),
    "webhook": Scene("pages.show_webhook", one_webhook, opened_log),
    "webhook with a new secret": Scene("pages.show_webhook", one_webhook, rotated),
    "disabled webhook": Scene("pages.show_webhook", disabled_webhook),
    "account": Scene("pages.show_account", account),
    "account with a password": Scene("pages.show_account", account_with_a_password, wrong_confirmation),
    "sign up": Scene("pages.show_sign_up", lambda _: "/sign-up", settings={"sign_up": "open"}),
    "sign up where it is closed": Scene("pages.show_sign_up", lambda _: "/sign-up"),
    "sign up refused": Scene("pages.show_sign_up", lambda _: "/sign-up", email_as_password, {"sign_up": "open"}),
    "sign in refused": Scene("pages.show_sign_in", lambda _: "/sign-in", wrong_password),
}
