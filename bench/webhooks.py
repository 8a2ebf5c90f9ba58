"""How long a delivery takes while the receivers of other accounts hang, and without them: `python -m bench.webhooks`.

One account has ten webhooks whose receivers accept a connection and stay silent, and sends a test to each as often as
it may.  Another account's webhook works: the figures are the seconds from its test to the request at its receiver.
"""

from __future__ import annotations

import argparse
import json
import socket
import statistics
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.error import HTTPError

from bench.service import Service, running

PATIENCE = 120.0


@contextmanager
def _silent() -> Iterator[str]:
    """A receiver that accepts and says nothing."""
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"


@contextmanager
def _working(came: threading.Event) -> Iterator[str]:
    """A receiver that answers 204 at once."""
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listening:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    with connection:
                        connection.recv(65536)
                        came.set()
                        connection.sendall(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"


def _account(service: Service, name: str) -> str:
    service.fairlane("user", "add", f"{name}@example.org")
    return str(json.loads(service.fairlane("token", "add", f"{name}@example.org", "--json"))["token"])


def _call(service: Service, token: str, path: str, body: object = None) -> dict[str, str]:
    request = urllib.request.Request(
        f"{service.url}/api/v1/me/webhooks{path}",
        json.dumps(body or {}).encode(),
        {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return dict(json.loads(answer.read() or b"{}"))


def _attack(service: Service, token: str, url: str, over: threading.Event) -> None:
    hooks = [_call(service, token, "", {"url": url}) for _ in range(10)]
    while not over.is_set():
        for hook in hooks:
            with suppress(HTTPError):
                _call(service, token, f"/{hook['id']}/test")
        over.wait(1.5)


def _measure(service: Service, accounts: int, samples: int) -> list[float]:
    came, over, seconds = threading.Event(), threading.Event(), []
    with _silent() as silent, _working(came) as working:
        tokens = [_account(service, f"attacker{number}") for number in range(accounts)]
        attackers = [threading.Thread(target=_attack, args=(service, one, silent, over)) for one in tokens]
        for one in attackers:
            one.start()
        token = _account(service, f"good{accounts}")
        hook = _call(service, token, "", {"url": working})
        time.sleep(10 if accounts else 1)
        for _ in range(samples):
            came.clear()
            began = time.monotonic()
            _call(service, token, f"/{hook['id']}/test")
            came.wait(PATIENCE)
            seconds.append(time.monotonic() - began)
            time.sleep(3)
        over.set()
        for one in attackers:
            one.join()
    return seconds


def main() -> None:
    """Print the median, the least and the most of each scene; PATIENCE means that nothing came."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--samples", type=int, default=5)
    given.add_argument("--accounts", type=int, nargs="+", default=[0, 1])
    options = given.parse_args()
    for accounts in options.accounts:
        with running(WEBHOOK_LOOPBACK="true") as service:
            seconds = _measure(service, accounts, options.samples)
        shown = f"median {statistics.median(seconds):6.2f} s   min {min(seconds):6.2f}   max {max(seconds):6.2f}"
        print(f"{accounts:3} accounts whose receivers hang   {shown}", flush=True)


if __name__ == "__main__":
    main()
