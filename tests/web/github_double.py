"""What GitHub does for a sign-in: it gives out codes, exchanges each once, and answers who somebody is."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

CLIENT = {"client_id": "an-app", "client_secret": "the secret of the app"}


@dataclass
class Double:
    """broken: path -> (status, body) to answer instead; hold: answers wait for it."""

    url: str = ""
    user: dict[str, Any] = field(default_factory=lambda: {"id": 7, "login": "ann"})
    emails: Any = field(default_factory=lambda: [
        {"email": "old@example.org", "primary": False, "verified": True},
        {"email": "ann@example.org", "primary": True, "verified": True},
    ])  # fmt: skip
    broken: dict[str, tuple[int, str]] = field(default_factory=dict)
    hold: threading.Event | None = None
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def authorise(self, address: str) -> dict[str, str]:
        """What a person does there; the query with which the browser comes back."""
        parts = urlsplit(address)
        assert f"{parts.scheme}://{parts.netloc}{parts.path}" == f"{self.url}/login/oauth/authorize"
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        assert asked["client_id"] == CLIENT["client_id"]
        assert (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")
        code = f"code {len(self.codes)}"
        self.codes[code] = asked
        return {"code": code, "state": asked["state"]}

    def answer(self, path: str, sent: dict[str, str], authorization: str) -> tuple[int, str]:
        if self.hold:
            self.hold.wait(60)
        if path in self.broken:
            return self.broken[path]
        if path == "/login/oauth/access_token":
            return 200, json.dumps(self.token(sent))
        if authorization != "Bearer gho_1":
            return 401, '{"message": "Bad credentials"}'
        return 200, json.dumps({"/api/v3/user": self.user, "/api/v3/user/emails": self.emails}[path])

    def token(self, sent: dict[str, str]) -> dict[str, str]:
        """GitHub answers with 200 in any case."""
        asked = self.codes.pop(sent["code"], None)
        digest = hashlib.sha256(sent["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if asked is None or asked["code_challenge"] != challenge or asked["redirect_uri"] != sent["redirect_uri"]:
            return {"error": "bad_verification_code", "error_description": "The code is incorrect or expired."}
        if {name: sent[name] for name in CLIENT} != CLIENT:
            return {"error": "incorrect_client_credentials"}
        return {"access_token": "gho_1", "token_type": "bearer", "scope": "read:user,user:email"}


@contextmanager
def github() -> Iterator[Double]:
    """One that listens, and is waited for although the machine is busy."""
    double = Double()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            sent = {name: values[0] for name, values in parse_qs(self.rfile.read(length).decode()).items()}
            status, body = double.answer(self.path, sent, self.headers.get("Authorization", ""))
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        do_POST = do_GET  # noqa: N815 - the name that http.server calls

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.web.accounts.github.SECONDS", 50.0)
        double.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield double
        finally:
            if double.hold:
                double.hold.set()
            server.shutdown()
            thread.join()
