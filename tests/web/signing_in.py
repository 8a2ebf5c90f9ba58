"""Clients of many addresses that sign in at the same time, each below its own limit."""

from __future__ import annotations

import http.client
import re
import threading
from collections import Counter
from contextlib import closing
from typing import Self
from urllib.parse import urlencode

PAUSE = 1.0  # seconds between two attempts of a client
MOST = 15  # attempts of a client; 20 a minute are allowed
OWNER = "203.0.113.5"  # the address of somebody who is signed in
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class Signers:
    """A trusted proxy's connections.  signing: so many sign in, the others read the form; answers: by their status."""

    def __init__(self, port: int, connected: int, *, signing: int) -> None:
        self.answers: Counter[int] = Counter()
        self._port, self._over = port, threading.Event()
        self._begun = threading.Barrier(connected + 1)
        self._cookie, self._token = self._form()
        self._threads = [threading.Thread(target=self._run, args=(n, n < signing)) for n in range(connected)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        self._begun.wait(60)
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _run(self, number: int, signs_in: bool) -> None:
        headers = {"X-Forwarded-For": f"198.51.100.{number}", "Cookie": self._cookie}
        with closing(http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)) as connection:
            connection.connect()
            self._begun.wait(60)
            for attempt in range(MOST):
                if signs_in:
                    typed = {"email": f"u{number}-{attempt}@example.org", "password": "a wrong password"}
                    body = urlencode({"csrf_token": self._token, **typed})
                    connection.request("POST", "/sign-in/password", body, headers | FORM)
                else:
                    connection.request("GET", "/sign-in", headers=headers)
                answer = connection.getresponse()
                answer.read()
                self.answers[answer.status] += 1
                if self._over.wait(PAUSE):
                    return

    def _form(self) -> tuple[str, str]:
        return form(self._port, "/sign-in")


def form(port: int, path: str, cookie: str = "") -> tuple[str, str]:
    """The browser's cookie after it has opened a page, and the page's form token."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request("GET", path, headers={"Cookie": cookie, "X-Forwarded-For": OWNER})
        answer = connection.getresponse()
        (token,) = re.findall(r'name="csrf_token" value="([^"]+)"', answer.read().decode())[:1]
        return (answer.getheader("Set-Cookie") or "").partition(";")[0] or cookie, token


def send(port: int, path: str, cookie: str, token: str, **typed: str) -> tuple[int, str]:
    """The status of a form's answer, and the browser's cookie after it."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        headers = {"Cookie": cookie, "X-Forwarded-For": OWNER} | FORM
        connection.request("POST", path, urlencode({"csrf_token": token, **typed}), headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status, (answer.getheader("Set-Cookie") or "").partition(";")[0] or cookie
