"""`python -m bench.web.client PORT SECONDS CLIENTS` with paths on stdin, one a line: read them in turns, in threads.

Prints JSON: [milliseconds, bytes on the wire, status] of each request.
"""

import http.client
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor

HEADERS = {"Accept-Encoding": "gzip", "Accept": "text/html, application/json"}


def main() -> None:
    """Every client begins at another path, so that they do not march in step."""
    port, seconds, clients = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    paths = sys.stdin.read().split()
    until = time.monotonic() + seconds

    def client(number: int) -> list[tuple[float, int, int]]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        found = []
        turn = number * len(paths) // clients
        while time.monotonic() < until:
            began = time.monotonic()
            connection.request("GET", paths[turn % len(paths)], headers=HEADERS)
            answer = connection.getresponse()
            size = len(answer.read())
            found.append((1000 * (time.monotonic() - began), size, answer.status))
            turn += 1
        return found

    with ThreadPoolExecutor(clients) as threads:
        print(json.dumps([one for found in threads.map(client, range(clients)) for one in found]))


if __name__ == "__main__":
    main()
