"""Ask GitHub who somebody is: OAuth 2 with an authorization code, a state and PKCE."""

from __future__ import annotations

import base64
import hashlib
from contextlib import suppress
from dataclasses import dataclass, field
from threading import BoundedSemaphore
from typing import Any
from urllib.parse import urlencode

import httpx
from flask import current_app

from app.errors import Busy, GitHostUnreachable, InvalidInput, Message
from app.services.accounts.github import Identity
from app.settings import Settings

EXTENSION = "fairlane github"
SCOPE = "read:user user:email"
SECONDS = 5.0  # for each answer of GitHub
#: Threads of a process that may wait for GitHub at once.
AT_ONCE = 4
AWAY_SECONDS = 30
REFUSED = Message("GitHub did not confirm this sign-in. Begin again.")


@dataclass
class GitHub:
    """The OAuth app of this service."""

    settings: Settings
    seats: BoundedSemaphore = field(default_factory=lambda: BoundedSemaphore(AT_ONCE))

    @property
    def is_offered(self) -> bool:
        """Whether there is such an app."""
        return self.settings.github_client_id is not None

    def address(self, state: str, verifier: str, callback: str) -> str:
        """Where the browser goes to be asked."""
        digest = hashlib.sha256(verifier.encode()).digest()
        parameters = {
            "response_type": "code",
            "client_id": self.settings.github_client_id or "",
            "redirect_uri": callback,
            "scope": SCOPE,
            "state": state,
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        return f"{self.settings.github_oauth_url}/login/oauth/authorize?{urlencode(parameters)}"

    def identity(self, code: str, verifier: str, callback: str) -> Identity:
        """Exchange the code, and read whose it is.  Raises: InvalidInput, GitHostUnreachable, Busy."""
        if not self.seats.acquire(timeout=SECONDS):
            raise Busy("Too many people sign in with GitHub at this moment; try again.", retry_after=5)
        try:
            with httpx.Client(timeout=SECONDS, headers={"Accept": "application/json"}) as client:
                token = self._token(client, code, verifier, callback)
                client.headers["Authorization"] = f"Bearer {token}"
                return self._identity(client)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidInput(REFUSED) from error
        except httpx.HTTPError as error:
            raise GitHostUnreachable("GitHub does not answer; try again.", retry_after=AWAY_SECONDS) from error
        finally:
            self.seats.release()

    def _token(self, client: httpx.Client, code: str, verifier: str, callback: str) -> str:
        """GitHub says 200 for a wrong code as well, without a token."""
        secret = self.settings.github_client_secret
        sent = {
            "grant_type": "authorization_code",
            "client_id": self.settings.github_client_id or "",
            "client_secret": secret.get_secret_value() if secret else "",
            "code": code,
            "code_verifier": verifier,
            "redirect_uri": callback,
        }
        given = _answer(client.post(f"{self.settings.github_oauth_url}/login/oauth/access_token", data=sent))
        return str(given["access_token"])

    def _identity(self, client: httpx.Client) -> Identity:
        user: dict[str, Any] = _answer(client.get(f"{self._api}/user"))
        email = None
        with suppress(httpx.HTTPStatusError):  # the person may have allowed less than was asked for
            listed = _answer(client.get(f"{self._api}/user/emails"))
            email = next((row["email"] for row in listed if row["primary"] and row["verified"]), None)
        if not isinstance(user["id"], int) or not isinstance(user["login"], str):
            raise TypeError("not a user")
        return Identity(user["id"], user["login"][:100], email)

    @property
    def _api(self) -> str:
        """An Enterprise Server has its API below its own address."""
        own = self.settings.github_oauth_url
        return "https://api.github.com" if own == "https://github.com" else f"{own}/api/v3"


def _answer(response: httpx.Response) -> Any:
    response.raise_for_status()
    return response.json()


def github() -> GitHub:
    """GitHub, which says who somebody is."""
    found: GitHub = current_app.extensions[EXTENSION]
    return found
