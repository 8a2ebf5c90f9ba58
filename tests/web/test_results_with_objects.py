"""Analyses with an object store on a real server, which goes away and comes back (docs/adr/0095)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from service_harness.objects import KEYS, BucketServer, bucket_server
from sqlalchemy import text

from app.adapters.object_bucket import ObjectBucket
from app.adapters.verified_objects import VerifiedObjects
from app.domain.fact_packs import WORTH_AN_OBJECT
from app.services.operations.audit import audit
from app.services.operations.audit_objects import audit_objects
from app.setting_types import Bucket, object_place
from app.store.analyses import last_inventories
from tests.web.places import PAGE, Place

FILES = WORTH_AN_OBJECT + 10
STORED = """
    SELECT a.commit_sha, f.path, i.tests, i.checks, i.digest FROM analysis_files f JOIN analyses a ON a.id = f.analysis_id
      JOIN file_inventories i ON i.id = f.file_inventory_id ORDER BY 1, 2"""


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[BucketServer]:
    pytest.importorskip("obstore", reason="obstore is not installed: pip install 'fairlane[s3]'")
    pytest.importorskip("moto", reason="moto is not installed: pip install 'fairlane[dev]'")
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(last_inventories, "WORTH_AN_OBJECT", 100)
    with bucket_server() as found:
        yield found


def rows(place: Place, query: str) -> list[tuple[Any, ...]]:
    with place.web.uow.begin() as tx:
        return [tuple(row) for row in tx.run(text(query)).all()]


def numbers(place: Place) -> tuple[int, ...]:
    """Facts that are rows, facts in objects, objects, and last inventories in them."""
    query = """
        SELECT (SELECT count(*) FROM blob_facts), (SELECT count(*) FROM packed_facts),
               (SELECT count(*) FROM stored_objects), (SELECT count(object_id) FROM last_inventories)"""
    return rows(place, query)[0]


def write(place: Place, round_: int) -> None:
    for n in range(FILES):
        # a class that others may have: what the next analysis needs of each file is more than that it has not changed
        content = f"class TestBase{n}:\n    def test_{n}_{round_}(self):\n        assert {n} == {round_}\n"
        (place.path / f"test_many_{n}.py").write_text(
            content if n % 10 == round_ or not round_ else content.replace(f"_{round_}(", "_0("), "utf-8"
        )
    (place.path / f"test_new_{round_}.py").write_text(f"def test_new_{round_}(): pass\n", "utf-8")


class Minutes:
    """A clock that tests move."""

    passed = 0.0

    def seconds(self) -> float:
        return 60 * self.passed


def analysed(place: Place, round_: int) -> tuple[int, ...]:
    write(place, round_)
    commit = place.commit(round_)
    user = place.web.user()
    assert place.ask(user) == (202, commit)
    assert rows(place, f"SELECT status FROM analyses WHERE commit_sha = '{commit}'") == [("completed",)]
    return numbers(place)


def test_a_store_that_is_away_costs_no_result_and_no_unit(place: Place, bucket: BucketServer) -> None:
    minutes = Minutes()
    where = object_place(bucket.url)
    assert isinstance(where, Bucket)
    place.objects = objects = VerifiedObjects(ObjectBucket(where), clock=minutes.seconds)
    few, packed, stored, lasts = analysed(place, 0)
    assert (few < WORTH_AN_OBJECT, packed >= FILES, stored >= 2, lasts) == (True, True, True, 1)
    bucket.stop()
    few_away, packed_away, _, lasts = analysed(place, 1)  # nothing can be read: all is parsed again, and kept in rows
    assert (few_away >= few + FILES, packed_away, lasts) == (True, packed, 0)
    assert place.web.client.get(PAGE).status_code == 200
    bucket.start()
    minutes.passed = 2
    _, packed_back, _, lasts = analysed(place, 2)
    assert (packed_back > packed, lasts) == (True, 1)
    bills = rows(place, "SELECT count(*), count(DISTINCT job_id), sum(quota_amount) FROM usage_events")
    assert bills == [(3, 3, 3)]
    assert [one.number for one in audit(place.web.uow) if one.status != "holds"] == []
    assert audit_objects(place.web.uow, objects, within=timedelta(minutes=5), most=10).status == "holds"
    with_objects = rows(place, STORED)
    assert with_objects == as_a_whole(place)


def as_a_whole(place: Place) -> list[tuple[Any, ...]]:
    """What the same commits give without any store and anything known."""
    commits = [sha for (sha,) in rows(place, "SELECT commit_sha FROM analyses ORDER BY started_at")]
    with place.web.uow.begin() as tx:
        for table in (
            "analyses",
            "analysis_requests",
            "file_lists",
            "file_inventories",
            "blob_facts",
            "packed_facts",
            "stored_objects",
        ):
            tx.run(text(f"DELETE FROM {table}"))
    place.objects = None
    user = place.web.user()
    for commit in commits:
        assert place.ask(user, commit=commit) == (202, commit)
    return rows(place, STORED)
