"""Facts of files and last inventories in objects outside the database (docs/adr/0095)."""

from __future__ import annotations

import os
import signal
from datetime import datetime, timedelta
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from durable_harness.waiting import wait_for
from service_harness.objects import MemoryObjects
from sqlalchemy import text

from app.adapters.object_folder import ObjectFolder
from app.adapters.verified_objects import VerifiedObjects
from app.domain.fact_packs import WORTH_AN_OBJECT
from app.domain.inventories import Facts
from app.domain.objects import Kind, Objects, digest_of
from app.services.analyses.known_facts import KnownFacts, load_last
from app.services.operations.audit_objects import audit_objects
from app.services.operations.prune import Pruned, prune
from app.store.analyses import last_inventories, stored_objects
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork
from tests.conftest import NOW, World
from tests.databases import LOCK_WAITS

DAY = timedelta(days=1)
TEXTS = ("test_a", "café", "\x00", "\ud800", "\t\n", '"\\u0000"')


def facts(count: int, *, start: int = 0) -> dict[tuple[str, str], Facts]:
    return {
        (f"{n:040x}", "python"): {"names": [f"test_{n}", TEXTS[n % len(TEXTS)]], "line": n}
        for n in range(start, start + count)
    }


def known(world: World, objects: Objects | None, *, version: str = "1", at: datetime = NOW) -> KnownFacts:
    return KnownFacts(world.uow, version, lambda: at, objects)


def loaded(found: KnownFacts, wanted: dict[tuple[str, str], Facts]) -> dict[tuple[str, str], Facts]:
    return {(blob_id, language): content for blob_id, language, content in found.load(list(wanted))}


def count(world: World, table: str) -> Any:
    return world.value(f"SELECT count(*) FROM {table}")


def pruned(world: World, objects: Objects | None, *, days: float, dry_run: bool = False) -> Pruned:
    return prune(world.uow, now=NOW + days * DAY, objects=objects, dry_run=dry_run)


MANY = facts(WORTH_AN_OBJECT)
FEW = facts(WORTH_AN_OBJECT - 1)


def test_many_facts_are_an_object_and_few_are_rows(world: World) -> None:
    objects = MemoryObjects()
    known(world, objects).store(FEW)
    assert (count(world, "blob_facts"), len(objects.contents)) == (len(FEW), 0)
    more = facts(100, start=1000)
    known(world, objects).store(more)
    assert (count(world, "blob_facts"), count(world, "packed_facts"), len(objects.contents)) == (len(FEW), 100, 1)
    assert loaded(known(world, objects), more) == more
    some = dict(list(more.items())[3:7])
    assert loaded(known(world, objects), some | facts(3, start=5000)) == some


def test_facts_of_other_rules_are_not_known(world: World) -> None:
    objects = MemoryObjects()
    known(world, objects).store(MANY)
    assert loaded(known(world, objects, version="2"), MANY) == {}
    known(world, objects, version="2").store(MANY)
    assert loaded(known(world, objects, version="2"), MANY) == MANY
    assert len(objects.contents) == 2


def test_without_a_store_all_are_rows(world: World) -> None:
    plain = {key: {"line": n} for n, key in enumerate(MANY)}
    known(world, None).store(plain)
    assert (count(world, "blob_facts"), count(world, "stored_objects")) == (len(MANY), 0)
    assert loaded(known(world, None), plain) == plain


def test_rows_that_are_needed_together_become_an_object(world: World) -> None:
    plain = {key: {"line": n} for n, key in enumerate(MANY)}
    known(world, None).store(plain)
    objects = MemoryObjects()
    few = dict(list(plain.items())[:-1])
    assert loaded(known(world, objects), few) == few
    assert count(world, "blob_facts") == len(plain)
    assert loaded(known(world, objects), plain) == plain
    assert (count(world, "blob_facts"), count(world, "packed_facts"), len(objects.contents)) == (0, len(plain), 1)
    assert loaded(known(world, objects), plain) == plain


def test_an_object_is_there_before_a_row_refers_to_it(world: World) -> None:
    seen = []

    def look(digest: bytes) -> None:
        seen.append(
            (count(world, "packed_facts"), world.value(f"SELECT digest = '\\x{digest.hex()}' FROM stored_objects"))
        )

    known(world, MemoryObjects(after_put=look)).store(MANY)
    assert seen == [(0, True)]
    assert count(world, "packed_facts") == len(MANY)


def test_a_worker_killed_before_the_commit_leaves_an_object_that_is_collected(
    world: World, database_url: str, tmp_path: Path
) -> None:
    objects = VerifiedObjects(ObjectFolder(tmp_path))

    class Killed(VerifiedObjects):
        def put(self, content: bytes) -> None:
            super().put(content)
            os.kill(os.getpid(), signal.SIGKILL)

    if not (child := os.fork()):
        try:
            KnownFacts(UnitOfWork(make_engine(database_url)), "1", lambda: NOW, Killed(ObjectFolder(tmp_path))).store(
                MANY
            )
        finally:
            os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert (len(files), count(world, "stored_objects"), count(world, "packed_facts")) == (1, 1, 0)
    assert loaded(known(world, objects), MANY) == {}
    assert pruned(world, objects, days=0.99).objects == 0
    assert files[0].exists()
    assert pruned(world, objects, days=1.01).objects == 1
    assert not files[0].exists()
    known(world, objects).store(MANY)
    assert loaded(known(world, objects), MANY) == MANY


@pytest.mark.parametrize("damage", ["lost", "damaged"])
def test_a_lost_object_is_found_and_its_facts_are_stored_again(world: World, damage: str) -> None:
    objects = MemoryObjects()
    known(world, objects).store(MANY)
    (digest,) = objects.contents
    objects.contents = {} if damage == "lost" else {digest: b"something else"}
    finding = audit_objects(world.uow, objects, within=DAY, most=10)
    assert (finding.status, finding.broken, finding.rows[0]["digest"]) == ("broken", 1, digest.hex())
    assert loaded(known(world, objects), MANY) == {}
    assert audit_objects(world.uow, objects, within=DAY, most=10).status == "holds"  # nothing refers to it any more
    known(world, objects).store(MANY)
    assert loaded(known(world, objects), MANY) == MANY
    assert audit_objects(world.uow, objects, within=DAY, most=10).status == "holds"


def test_while_the_store_is_away_facts_are_rows_and_nothing_is_forgotten(world: World) -> None:
    objects = MemoryObjects()
    known(world, objects).store(MANY)
    objects.is_away = True
    plain = {key: {"line": 1} for key in facts(100, start=1000)}
    known(world, objects).store(plain)
    assert loaded(known(world, objects), MANY | plain) == plain
    assert (count(world, "packed_facts"), count(world, "blob_facts")) == (len(MANY), 100)
    assert count(world, "stored_objects") == 1  # nothing is prepared for a store that does not answer
    assert audit_objects(world.uow, objects, within=DAY, most=10).status == "unknown"
    objects.is_away = False
    assert loaded(known(world, objects), MANY | plain) == MANY | plain
    assert (count(world, "packed_facts"), count(world, "blob_facts")) == (len(MANY) + 100, 0)


def test_an_audit_reads_those_that_were_stored_last_or_all(world: World) -> None:
    objects = MemoryObjects()
    for start in range(0, 5000, 1000):
        known(world, objects).store(facts(WORTH_AN_OBJECT, start=start))
    oldest = next(iter(objects.contents))
    del objects.contents[oldest]
    assert audit_objects(world.uow, objects, within=DAY, most=10, sample=4).status == "holds"
    assert audit_objects(world.uow, objects, within=DAY, most=10, sample=None).broken == 1
    assert audit_objects(world.uow, objects, within=timedelta(0), most=10, sample=4).status == "unknown"


def test_a_last_inventory_of_some_size_is_an_object(world: World) -> None:
    user, objects = world.user(), MemoryObjects()
    job_id = world.running(user).job_id
    version = str(world.value("SELECT parser_version FROM analyses"))
    large, larger = b"x" * last_inventories.WORTH_AN_OBJECT, b"y" * last_inventories.WORTH_AN_OBJECT

    def last() -> Any:
        return load_last(world.uow, objects, job_id, version)

    known(world, objects).keep_last(job_id, large[1:])
    assert (last().content, objects.contents) == (large[1:], {})
    known(world, objects).keep_last(job_id, large)
    assert (last().content, world.value("SELECT content FROM last_inventories")) == (large, b"")
    objects.is_away = True
    assert last() is None
    known(world, objects).keep_last(job_id, larger)
    assert last().content == larger
    objects.is_away = False
    known(world, objects).keep_last(job_id, large)
    assert pruned(world, objects, days=2).objects == 0
    assert last().content == large
    del objects.contents[digest_of(large)]
    assert audit_objects(world.uow, objects, within=DAY, most=10).rows[0]["kind"] == "inventory"
    assert last() is None
    assert audit_objects(world.uow, objects, within=DAY, most=10).status == "holds"  # it is forgotten


def test_the_release_before_replaces_an_inventory_by_its_content(world: World) -> None:
    user, objects = world.user(), MemoryObjects()
    job_id = world.running(user).job_id
    known(world, objects).keep_last(job_id, b"x" * last_inventories.WORTH_AN_OBJECT)
    world.rows("UPDATE last_inventories SET content = 'of before' RETURNING 1")  # it does not know the other column
    found = load_last(world.uow, objects, job_id, str(world.value("SELECT parser_version FROM analyses")))
    assert found is not None and found.content == b"of before"


def test_facts_in_objects_live_as_long_as_rows_do(world: World) -> None:
    objects = MemoryObjects()
    known(world, objects).store(MANY)
    assert (pruned(world, objects, days=29).facts, len(objects.contents)) == (0, 1)
    assert pruned(world, objects, days=31, dry_run=True).facts == len(MANY)
    done = pruned(world, objects, days=31)
    assert (done.facts, done.objects, objects.contents, count(world, "stored_objects")) == (len(MANY), 1, {}, 0)


def test_a_store_that_takes_its_time_ends_no_transaction(world: World) -> None:
    known(world, MemoryObjects()).store(MANY)
    with world.uow.begin() as tx:
        stored_objects.drop(tx, None, 100, before=NOW)
        assert tx.run(text("SELECT current_setting('idle_in_transaction_session_timeout')")).scalar_one() == "1min"


def test_while_the_store_is_away_nothing_is_collected(world: World) -> None:
    objects = MemoryObjects()
    known(world, objects).store(MANY)
    objects.is_away = True
    done = pruned(world, objects, days=31)
    assert (done.facts, done.objects, count(world, "stored_objects")) == (len(MANY), 0, 1)
    objects.is_away = False
    assert pruned(world, objects, days=31).objects == 1
    assert objects.contents == {}


def test_a_job_that_stores_what_is_being_collected_waits_and_stores_it_again(world: World) -> None:
    objects = MemoryObjects()
    known(world, objects).store(MANY)
    world.rows("DELETE FROM packed_facts RETURNING 1")
    with world.uow.begin() as tx:
        _, digests = stored_objects.drop(tx, None, 100, before=NOW + DAY)
        assert len(digests) == 1
        job = Thread(target=known(world, objects, at=NOW + 2 * DAY).store, args=(MANY,))
        job.start()
        wait_for(lambda: world.value(LOCK_WAITS))
        objects.delete(digests)
    job.join(60)
    assert not job.is_alive()
    assert loaded(known(world, objects), MANY) == MANY


def test_what_a_job_has_begun_to_store_is_not_collected(world: World) -> None:
    objects = MemoryObjects()
    objects.put(b"of another day")
    with world.uow.begin() as tx:
        stored_objects.note(tx, digest_of(b"of another day"), Kind.FACTS, "1", size=14, now=NOW)
    with world.uow.begin() as tx:  # two days later a job stores the same again
        stored_objects.note(tx, digest_of(b"of another day"), Kind.FACTS, "1", size=14, now=NOW + 2 * DAY)
    assert pruned(world, objects, days=2.5).objects == 0
    assert pruned(world, objects, days=3.1).objects == 1


def test_a_store_that_goes_away_while_it_is_asked_costs_nothing(world: World) -> None:
    class GoesAway(MemoryObjects):
        def answers(self) -> bool:
            return True

    plain = {key: {"line": 1} for key in MANY}
    objects = GoesAway(is_away=True)
    known(world, objects).store(plain)
    assert loaded(known(world, objects), plain) == plain
    assert (count(world, "blob_facts"), count(world, "packed_facts")) == (len(plain), 0)
    objects.is_away = False
    assert pruned(world, objects, days=2).objects > 0  # what was noted for it
