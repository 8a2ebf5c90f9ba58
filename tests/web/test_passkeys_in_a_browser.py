"""Passkeys in Chromium, whose virtual authenticator answers as a phone would."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from service_harness.application import Web

from tests.web.browser import chromium, served

EMAIL = "ann@example.org"
PHONE = {
    "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
    "isUserVerified": True, "automaticPresenceSimulation": True,
}  # fmt: skip


@contextmanager
def opened(web: Web) -> Iterator[tuple[Page, str]]:
    """A page, and the address by which a browser allows passkeys."""
    with served(web.app) as address, chromium() as browser:
        page = browser.new_page()
        page.set_default_timeout(100_000)
        yield page, address.replace("127.0.0.1", "localhost")
        page.goto("about:blank")


def authenticator(page: Page, **changed: Any) -> None:
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": PHONE | changed})


@pytest.mark.proof
def test_a_person_signs_up_out_and_in_and_adds_another_passkey(make_web: Callable[..., Web]) -> None:
    with opened(make_web(sign_up="open")) as (page, address):
        authenticator(page)
        page.goto(f"{address}/sign-up")
        page.get_by_role("button", name="Create account with a passkey").click()  # the address comes first
        page.get_by_label("E-mail").fill(EMAIL)
        page.get_by_role("button", name="Create account with a passkey").click()
        expect(page.locator(".who .email")).to_have_text(EMAIL)
        page.get_by_role("button", name="Sign out").click()
        page.goto(f"{address}/sign-in")
        page.get_by_role("button", name="Sign in with a passkey").click()
        expect(page.locator(".who .email")).to_have_text(EMAIL)
        page.goto(f"{address}/account")
        page.get_by_label("Name of the passkey").fill("Again")
        page.get_by_role("button", name="Add a passkey").click()
        expect(page.get_by_text("This device has a passkey of this account already.")).to_be_visible()
        authenticator(page, transport="usb")
        page.get_by_role("button", name="Add a passkey").click()
        expect(page.get_by_role("row", name="Again")).to_be_visible()


@pytest.mark.proof
def test_a_device_without_a_passkey_leaves_the_form_to_try_again(make_web: Callable[..., Web]) -> None:
    with opened(make_web()) as (page, address):
        authenticator(page)
        page.goto(f"{address}/sign-in")
        button = page.get_by_role("button", name="Sign in with a passkey")
        button.click()
        expect(page.get_by_text("The device gave no passkey.")).to_be_visible()
        expect(button).to_be_enabled()
