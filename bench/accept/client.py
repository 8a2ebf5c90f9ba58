"""Posts to a web server as fast as it answers: a process of its own, one thread and one connection per client.

    python -m bench.accept.client PORT PATH SECONDS TOKEN...

Prints JSON: how many were answered, and the milliseconds of each.
"""

import json
import os
import secrets
import socket
import sys
import time
from concurrent.futures import ThreadPoolExecutor


def main() -> None:
    """Run all clients for so many seconds, each on a repository of its own."""
    port, path, seconds, tokens = int(sys.argv[1]), sys.argv[2], float(sys.argv[3]), sys.argv[4:]
    until = time.monotonic() + seconds
    with ThreadPoolExecutor(len(tokens)) as threads:
        shops = [f"shop-{os.getpid()}-{number}" for number in range(len(tokens))]
        times = list(threads.map(lambda token, shop: _client(port, path, token, shop, until), tokens, shops))
    print(json.dumps([ms for own in times for ms in own]))


def _client(port: int, path: str, token: str, shop: str, until: float) -> list[float]:
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
        "Content-Type: application/json\r\n"
    )
    times = []
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        while (began := time.monotonic()) < until:
            # a full commit id of a public host: the worker finds out whether it exists, so no host is asked here
            body = f'{{"repository": "https://github.com/bench/{shop}", "commit": "{secrets.token_hex(20)}"}}'
            key = f"Idempotency-Key: {secrets.token_hex(8)}\r\nContent-Length: {len(body)}\r\n\r\n"
            connection.sendall(f"{head}{key}{body}".encode())
            _answered(connection)
            times.append((time.monotonic() - began) * 1000)
    return times


def _answered(connection: socket.socket) -> None:
    """Read one answer to its end.  Exits on any but 202, since a refusal is quick and would look like speed."""
    got = b""
    while b"\r\n\r\n" not in got:
        got += _some(connection)
    head, _, body = got.partition(b"\r\n\r\n")
    if b" 202 " not in head.split(b"\r\n", 1)[0]:
        sys.exit(f"not accepted: {got[:2000]!r}")
    (length,) = (int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
    while len(body) < length:
        body += _some(connection)


def _some(connection: socket.socket) -> bytes:
    got = connection.recv(65536)
    if not got:
        sys.exit("the server closed the connection")
    return got


if __name__ == "__main__":
    main()
