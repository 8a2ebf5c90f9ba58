"""`fairlane doctor` finds lost objects, and forgets what they had (docs/adr/0095)."""

from __future__ import annotations

from pathlib import Path

from service_harness.objects import MemoryObjects

from app.domain.fact_packs import WORTH_AN_OBJECT
from app.services.analyses.known_facts import KnownFacts
from app.services.operations.audit_objects import SAMPLE
from tests.conftest import NOW, World
from tests.services.operations.doctoring import Doctor


def store(world: World, objects: MemoryObjects, *, start: int) -> None:
    facts = {(f"{n:040x}", "python"): {"line": n} for n in range(start, start + WORTH_AN_OBJECT)}
    KnownFacts(world.uow, "1", lambda: NOW, objects).store(facts)


def test_lost_objects_are_found_and_what_they_had_is_forgotten(world: World, tmp_path: Path) -> None:
    objects = MemoryObjects()
    doctor = Doctor(world, tmp_path, objects=objects)
    store(world, objects, start=0)
    store(world, objects, start=1000)
    assert doctor.see("lost objects").status == "ok"
    del objects.contents[min(objects.contents)]
    doctor.mend("lost objects")
    assert world.value("SELECT count(*) FROM packed_facts") == WORTH_AN_OBJECT


def test_after_a_restore_without_objects_all_are_forgotten_at_once(world: World, tmp_path: Path) -> None:
    objects = MemoryObjects()
    doctor = Doctor(world, tmp_path, objects=objects)
    store(world, objects, start=0)
    world.rows(f"""
        WITH made AS (
            INSERT INTO stored_objects (digest, kind, parser_version, size, put_at)
            SELECT sha256(CAST(CAST(n AS text) AS bytea)), 'facts', '1', 1, now() FROM generate_series(1, {SAMPLE + 50}) n
            RETURNING id)
        INSERT INTO packed_facts SELECT 'blob' || id, 'python', id FROM made RETURNING 1""")
    mended = doctor.mend("lost objects")
    assert str(SAMPLE + 50) in (mended.mended or "")
    assert world.value("SELECT count(*) FROM packed_facts") == WORTH_AN_OBJECT


def test_a_store_that_is_away_is_not_checked_and_nothing_is_forgotten(world: World, tmp_path: Path) -> None:
    objects = MemoryObjects()
    store(world, objects, start=0)
    objects.is_away = True
    doctor = Doctor(world, tmp_path, objects=objects)
    assert doctor.see("lost objects", fix=True).status == "unknown"
    assert world.value("SELECT count(*) FROM packed_facts") == WORTH_AN_OBJECT


def test_without_a_store_there_is_nothing_to_lose(world: World, tmp_path: Path) -> None:
    assert Doctor(world, tmp_path).see("lost objects").status == "ok"
