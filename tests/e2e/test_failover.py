"""A standby takes over from a primary that was killed: what is kept, what is lost, and how soon everything works again.

FAILOVER_ROUNDS kills of a synchronous pair (1 in the suite, 6 by `make prove-failover`), between which the place of the
killed server is taken by a new standby.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import psutil
import pytest
from durable_harness.waiting import wait_for

from tests.e2e.pair import Pair
from tests.e2e.service import Service, prepare
from tests.e2e.submitter import Submitter
from tests.nodes import LocalProcess

pytestmark = pytest.mark.proof

ROUNDS = int(os.environ.get("FAILOVER_ROUNDS", "1"))
#: How long there is no server that accepts writes.
AWAY_SECONDS = 6.0
#: Jobs that are accepted before something happens.
ENOUGH = 8 if ROUNDS == 1 else 100
#: What the suite need not wait for.
DURABLE = {} if ROUNDS == 1 else {"fsync": "on"}
#: Of one processor, for all processes of the service while their database is away.
MOST_OF_A_PROCESSOR = 0.5
#: By the tier of the one who submits.
JOBS_AT_ONCE = 5
#: Events of that time, each of which a process logs for each way in which its server fails: it ends, and it refuses.
ONCE = ("renewal_failed", "heartbeat_failed", "broker_connection_lost", "beat_lost_database")
STARTS = "SELECT count(*) FROM job_events WHERE event = 'started' AND extract(epoch FROM at) > :since"


@pytest.mark.timeout(600 * ROUNDS)
def test_with_a_synchronous_standby_nothing_that_was_accepted_is_lost_or_billed_twice(
    repository: Callable[..., Path], tmp_path: Path
) -> None:
    with Pair.streaming("as libpq", **DURABLE) as pair:
        prepare(pair.url)
        with Service.on(pair.url, tmp_path, repository) as service, service.traffic() as client:
            for number in range(ROUNDS):
                alone = accepts(client)
                pair.wait_for_standby(f"FIRST 1 ({pair.standby.name})")
                print(f"an accept took {alone:.1f} ms, and {accepts(client):.1f} ms with a synchronous standby")
                print(fail_over(pair, service, client))
                if number + 1 < ROUNDS:
                    pair.attach(f"after{number}", pair.made[number].port)
            client.end()
            wait_for(service.is_idle, "every job to end", seconds=600)
            assert service.bills() == {one.job_id: 1 for one in client.accepted}
            assert service.unknown(client) == []
            assert service.broken() == []
            assert {one.status for one in service.processes} == {"running"}


def test_an_asynchronous_standby_loses_what_it_had_not_received_and_the_rest_is_whole(
    repository: Callable[..., Path], tmp_path: Path
) -> None:
    with Pair.streaming("by parameters") as pair:
        prepare(pair.url)
        with Service.on(pair.url, tmp_path, repository) as service, service.traffic() as client:
            wait_for(lambda: len(client.accepted) >= ENOUGH, "jobs to be accepted")
            pair.standby.stop()  # as if it could not be reached
            before = time.monotonic()
            wait_for(lambda: len(client.sent_since(before)) >= ENOUGH, "jobs that it knows nothing of")
            pair.primary.kill()
            pair.standby.start()
            pair.take_over()
            after = time.monotonic()
            wait_for(lambda: client.since(after), "jobs to be accepted again")
            client.end()
            wait_for(service.is_idle, "every job to end", seconds=600)
            lost = service.unknown(client)
            print(f"{len(client.accepted)} accepted, {len(lost)} of them lost")
            assert len(lost) >= ENOUGH
            kept = {one.job_id for one in client.accepted} - set(lost)
            assert service.bills() == dict.fromkeys(kept, 1)
            assert service.broken() == []
            again = [client.again(one) for one in client.accepted if one.job_id in lost]
            wait_for(service.is_idle, "what was submitted again to end")
            assert service.bills() == dict.fromkeys(kept | {one.job_id for one in again}, 1)


def accepts(client: Submitter) -> float:
    """Wait for the next accepts; -> the median of their milliseconds."""
    before = time.monotonic()
    wait_for(lambda: len(client.since(before)) >= ENOUGH, "jobs to be accepted", seconds=600)
    return 1000 * median(one.seconds for one in client.since(before))


def fail_over(pair: Pair, service: Service, client: Submitter) -> str:
    """Kill the primary, and promote the standby after a while; -> what was measured."""
    before = events(service)
    pair.primary.kill()
    killed, refused = time.monotonic(), client.refusals.total()
    with busy(service.processes) as used:
        time.sleep(AWAY_SECONDS)  # what is measured
    logged = events(service) - before
    answers = client.refusals.total() - refused
    assert client.sent_since(killed) == []
    assert used[0] < MOST_OF_A_PROCESSOR * AWAY_SECONDS
    # the heartbeat of each job that runs says so, too, and once
    most = Counter(heartbeat_failed=JOBS_AT_ONCE)
    assert {event: n for event, n in logged.items() if n > (most[event] or 2)} == {}
    pair.take_over()
    promoted, at = time.monotonic(), time.time()
    wait_for(lambda: client.since(promoted), "the first accept")
    wait_for(lambda: service.world.value(STARTS, since=at), "the first start")
    started = time.monotonic()
    first = client.since(promoted)[0].at - promoted
    return (
        f"{len(client.accepted)} accepted; away for {promoted - killed:.1f} s with {used[0]:.2f} s of a processor,"
        f" {answers} refusals; {dict(logged)}; after the promotion, {first:.2f} s to the first accept and"
        f" {started - promoted:.2f} s to the first start"
    )


def events(service: Service) -> Counter[str]:
    """How often each was logged."""
    return Counter({event: sum(one.logs().count(event) for one in service.processes) for event in ONCE})


@contextmanager
def busy(processes: list[LocalProcess]) -> Iterator[list[float]]:
    """How many seconds of a processor these and their children use in the block."""
    trees = [one for process in processes for one in (psutil.Process(process.pid), *process.children())]
    used = [0.0]
    before = sum(sum(one.cpu_times()[:2]) for one in trees)
    yield used
    used[0] = sum(sum(one.cpu_times()[:2]) for one in trees) - before
