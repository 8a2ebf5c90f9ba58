"""Mail the owner of an account what was added or changed, because somebody else may have added it."""

from __future__ import annotations

from flask import url_for

from app.services.accounts import password_resets
from app.store.accounts.users import Account
from app.web.accounts.mails import mails
from app.web.core.context import wired
from app.web.core.public_links import secret_link

SUBJECT = "Fairlane: Your account was changed"
NEW_PASSKEY = "A passkey was added to your account: whoever has it can sign in."
GITHUB_LINK = "A GitHub account was linked to your account: it can sign in."
NEW_TOKEN = "An API token was added to your account: whoever has it can use the service as you."  # noqa: S105 - a sentence
NEW_WEBHOOK = "A webhook was added to your account: its address receives a request when one of your jobs ends."
WEBHOOK_ADDRESS = "A webhook of your account has another address, which receives a request when one of your jobs ends."
WEBHOOK_SECRET = "A webhook of your account has a new secret; the one before ends within a day."  # noqa: S105 - a sentence
PASSWORD_CHANGE = "The password of your account was changed."  # noqa: S105 - a sentence
OTHERWISE = "If this was not you, set a new password on that page and tick that tokens and passkeys end as well."


def tell(account: Account, words: str) -> None:
    """Send a mail, where mails are sent, to an address that was verified: another one may be a stranger's."""
    if mails().are_sent and password_resets.verified_at(wired().uow, account.user_id):
        tell_verified(account, words)


def tell_verified(account: Account, words: str) -> None:
    """Send a mail, where mails are sent, to an address that is known to be verified."""
    if mails().are_sent and account.email:
        mails().send(account.email, SUBJECT, words, secret_link(url_for("pages.show_account")), otherwise=OTHERWISE)
