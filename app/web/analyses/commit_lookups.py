"""Ask Git hosts for commits: only a few at once, within a deadline, and never longer than that in a server thread."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass, field

from flask import current_app

from app.concurrency import Lane
from app.domain.repositories import Repository
from app.errors import Busy, GitHostUnreachable, Message, TooManyRequests
from app.web.core.wiring import Resolve

#: Concurrent look-ups of this process: in all, at one host, for one client.
PLACES, OF_HOST, OF_CLIENT = 12, 8, 4
#: Requests that wait for a place, and for how many seconds.  Places, waiting requests and batches together use at most
#: two thirds of the server's threads; the rest answers all other requests.
WAITING, PATIENCE = 8, 3.0
#: Look-ups of local repositories take milliseconds, so all of the server's threads may wait for these.
LOCAL, WAITING_FOR_LOCAL, LOCAL_PATIENCE = 8, 24, 10.0
BATCHES = 2
AWAY_SECONDS = 30  # Retry-After for a host that does not answer

#: (commit, name of the ref)
FoundCommit = tuple[str, str | None]


EXTENSION = "fairlane lookups"


@dataclass
class Lookups:
    """The look-ups of one process.  seconds: until a request is answered, whatever the host does."""

    resolve: Resolve
    seconds: float
    lane: Lane = field(
        default_factory=lambda: Lane(
            Message("look-ups of repositories"), PLACES, OF_CLIENT, WAITING, PATIENCE, others={"host": OF_HOST}
        )
    )
    local: Lane = field(
        default_factory=lambda: Lane(
            Message("look-ups of local repositories"), LOCAL, WAITING_FOR_LOCAL, WAITING_FOR_LOCAL, LOCAL_PATIENCE,
            others={"host": LOCAL},
        )
    )  # fmt: skip
    batches: Lane = field(default_factory=lambda: Lane(Message("batches that look repositories up"), BATCHES, 1))

    def find(
        self, client: str, repository: Repository, ref: str | None, commit: str | None, *, until: float | None = None
    ) -> FoundCommit:
        """The commit of one submission.

        until: monotonic deadline of the batch, for one of its items, which waits for its place until then.
        Raises: TooManyRequests, Busy, GitHostUnreachable, and what `resolve` raises.
        """
        began = time.monotonic()
        deadline = began + self.seconds if until is None else until
        lane = self.local if repository.is_local else self.lane
        self._enter(lane, client, repository.host, None if until is None else max(0.0, until - began))
        answer = self._from_host(lane, client, repository, ref, commit)
        try:
            return answer.result(max(0.0, deadline - time.monotonic()))
        except TimeoutError:
            if answer.done():
                raise
            raise GitHostUnreachable(
                Message(
                    "%(host)s did not say within %(seconds)s s which commit this is; try again.",
                    host=repository.host,
                    seconds=f"{self.seconds:g}",
                ),
                retry_after=AWAY_SECONDS,
            ) from None

    @staticmethod
    def _enter(lane: Lane, client: str, host: str, patience: float | None) -> None:
        try:
            lane.enter(client, patience=patience, host=host)
        except (TooManyRequests, Busy) as problem:
            if patience is None:
                raise
            raise Busy("The batch's time limit passed before this item was looked up.", retry_after=1) from problem

    def _from_host(
        self, lane: Lane, client: str, repository: Repository, ref: str | None, commit: str | None
    ) -> Future[FoundCommit]:
        """Ask in a separate thread, because neither a name resolution nor git can be interrupted."""
        answer: Future[FoundCommit] = Future()

        def ask() -> None:
            try:
                answer.set_result(self.resolve(repository, ref, commit))
            except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
                answer.set_exception(error)
            finally:  # only now, because the call to the host was still running
                lane.leave(client, host=repository.host)

        try:
            threading.Thread(target=ask, name="lookup", daemon=True).start()
        except RuntimeError:  # the system has no thread left
            lane.leave(client, host=repository.host)
            raise
        return answer


def lookups() -> Lookups:
    """The look-ups of commits."""
    found: Lookups = current_app.extensions[EXTENSION]
    return found
