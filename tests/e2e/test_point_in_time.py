"""A drill: somebody deletes all bills by mistake, and the database is recovered to the moment before."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from durable_harness.postgres import PACKAGED
from durable_harness.standby import query
from durable_harness.waiting import wait_for

from tests.e2e.archives import PGBACKREST, OwnMeans, PgBackRest
from tests.e2e.service import Service, prepare
from tests.e2e.submitter import Submitter

pytestmark = pytest.mark.proof

MISTAKE = "DELETE FROM usage_events"
HAS_PGBACKREST = pytest.mark.skipif(
    not (PGBACKREST and PACKAGED), reason="needs pgbackrest and a server of the same origin: apt-get install pgbackrest"
)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("means", [OwnMeans, pytest.param(PgBackRest, marks=HAS_PGBACKREST)])
def test_after_a_mistake_everything_is_as_it_was_the_moment_before(
    means: type[OwnMeans | PgBackRest], repository: Callable[..., Path], tmp_path: Path
) -> None:
    archive = means()
    made = [archive.server]
    try:
        archive.begin()
        prepare(archive.server.url())
        with Service.on(archive.server.url(), tmp_path, repository) as service, service.traffic() as client:
            kept, bills, moment, after = work(archive, service, client)
            begun = time.monotonic()
            service.stop()
            archive.server.stop()
            made.append(recovered := archive.recover(moment))
            recovered.start()
            wait_for(lambda: query(recovered, "SELECT pg_is_in_recovery()") == [(False,)], "the recovery to end")
            up = time.monotonic() - begun
            service.move(recovered.url())
            assert service.broken() == []
            assert service.bills().items() >= bills.items()
            service.start()
            wait_for(service.is_idle, "every job to end")
            print(f"{means.__name__}: {up:.1f} s until the server, {time.monotonic() - begun:.1f} s until every job")
            lost = set(service.unknown(client))
            assert lost.isdisjoint(kept)
            assert lost >= {one.job_id for one in client.sent_since(after)}
            assert service.bills() == {one.job_id: 1 for one in client.accepted if one.job_id not in lost}
            assert service.broken() == []
    finally:
        for one in made:
            one.remove()


def work(
    archive: OwnMeans | PgBackRest, service: Service, client: Submitter
) -> tuple[set[str], dict[str, int], str, float]:
    """Jobs before and after a mistake.

    -> the ids of those that were accepted before it, the bills of then, the moment, and the same of time.monotonic
    """
    wait_for(lambda: len(client.accepted) >= 5, "jobs to be accepted")
    archive.back_up()
    wait_for(lambda: len(service.bills()) >= 5, "jobs to be billed")
    backed_up = time.monotonic()
    [(second,)] = query(archive.server, "SELECT date_trunc('second', clock_timestamp())")
    # pgBackRest takes only a backup that ended in an earlier second than the moment
    wait_for(lambda: query(archive.server, "SELECT clock_timestamp() >= %s + interval '1 s'", second) == [(True,)])
    wait_for(lambda: client.since(backed_up), "more jobs to be accepted")
    kept, bills = {one.job_id for one in client.accepted}, service.bills()
    [(moment,)] = query(archive.server, "SELECT clock_timestamp()::text")
    after = time.monotonic()
    query(archive.server, MISTAKE)
    wait_for(lambda: len(client.sent_since(after)) >= 3, "jobs that were submitted after it")
    client.end()
    assert service.broken() != []
    return kept, bills, moment, after
