"""Ask the owner of an address to confirm it."""

from __future__ import annotations

from flask import url_for

from app.services.accounts import password_resets, sessions
from app.store.accounts.users import Account
from app.web.accounts.mails import mails
from app.web.core.context import utc_now, wired
from app.web.core.public_links import secret_link

SUBJECT = "Fairlane: Confirm your address"
WORDS = "With this link, you confirm that this is your address. It works once, within a day."


def send_verification(account: Account) -> None:
    """Send a link, unless the account has enough of them."""
    letter = password_resets.ask_to_verify(wired().uow, account, now=utc_now())
    if letter:
        mails().send(letter.email, SUBJECT, WORDS, secret_link(url_for("pages.show_verify", token=letter.secret)))


def greet(session_secret: str) -> None:
    """Send a verification link after a sign-up, if mail is set up; the operator's log need not fill with links."""
    if mails().are_sent and (account := sessions.by_session(wired().uow, session_secret, now=utc_now())):
        send_verification(account)
