"""A client as the API asks for one: each submission has a key, and is repeated until it was answered."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from uuid import uuid4

import httpx

#: Between two attempts at one submission.
PAUSE_SECONDS = 0.1
ANSWER_SECONDS = 60.0


@dataclass(frozen=True)
class Accepted:
    """A submission that was answered by 202.  at: when, in seconds of time.monotonic; seconds: that its answer took."""

    job_id: str
    key: str
    commit: str
    at: float
    seconds: float


class Submitter(threading.Thread):
    """Submits one commit after the other.  refusals: answers and errors that were followed by another attempt."""

    def __init__(self, url: Callable[[], str], token: str, commits: Iterator[str]) -> None:
        """url: of the web that a balancer would choose now."""
        super().__init__(name="submitter", daemon=True)
        self.accepted: list[Accepted] = []
        self.refusals: Counter[str] = Counter()
        self.error: BaseException | None = None
        self._commits, self._over = commits, threading.Event()
        self._url = url
        self._client = httpx.Client(
            headers={"Authorization": f"Bearer {token}"}, timeout=ANSWER_SECONDS, trust_env=False
        )

    def run(self) -> None:
        try:
            while not self._over.is_set():
                commit, key = next(self._commits), uuid4().hex
                while (answer := self.submit(commit, key)) is None:
                    time.sleep(PAUSE_SECONDS)  # as Retry-After asks for, only sooner
                self.accepted.append(answer)
        except BaseException as error:  # noqa: BLE001 - told at the end
            self.error = error

    def submit(self, commit: str, key: str) -> Accepted | None:
        """One attempt; None if it may be repeated."""
        begun = time.monotonic()
        try:
            answer = self._client.post(
                f"{self._url()}/api/v1/analyses",
                json={"repository": "local:shop", "commit": commit},
                headers={"Idempotency-Key": key},
            )
        except httpx.TransportError as error:
            self.refusals[type(error).__name__] += 1
            return None
        if answer.status_code in (503, 409):  # the database is away; the former attempt is still under way
            self.refusals[str(answer.status_code)] += 1
            return None
        assert answer.status_code == 202, answer.text
        ended = time.monotonic()
        return Accepted(answer.json()["id"], key, commit, ended, ended - begun)

    def again(self, former: Accepted) -> Accepted:
        """Repeat a submission that was lost, with its key."""
        answer = self.submit(former.commit, former.key)
        assert answer is not None, self.refusals
        return answer

    def since(self, instant: float) -> list[Accepted]:
        """What was accepted after an instant of time.monotonic."""
        return [one for one in list(self.accepted) if one.at > instant]

    def sent_since(self, instant: float) -> list[Accepted]:
        """What was accepted by a request that began after an instant: all of it was committed after it."""
        return [one for one in self.since(instant) if one.at - one.seconds > instant]

    def close(self) -> None:
        """Submit nothing any more, by hand either."""
        self._client.close()

    def end(self) -> None:
        """Submit no more."""
        self._over.set()
        self.join(ANSWER_SECONDS)
        assert self.error is None, self.error
