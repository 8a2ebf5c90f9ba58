"""That the soak asks for enough pages to fill what the web keeps (bench/soak/filling.py)."""

from __future__ import annotations

import zlib
from urllib.parse import urlencode

from service_harness.application import Web
from service_harness.inventories import a_test, file

from app.server.config import COLLECTIONS
from app.web.limits.read_costs import MOST_OUTLINED, MOST_RENDERED, READS, Reads
from bench.soak.commits import ALIKE
from bench.soak.filling import NAME, PAGES, PATH, spelled
from tests.web.test_request_memory import LEFT


def test_the_pages_of_the_soak_fill_the_caches_of_results_and_wake_the_collector(web: Web) -> None:
    job_id = web.submit("shop").json["id"]
    web.completed(job_id, [file(f"tests/test_{n}.py", a_test(f"test_{n}")) for n in range(ALIKE)])
    pages = {
        web.client.get(f"/analyses/{job_id}?{urlencode({'q': q, 'path': path})}").status_code
        for q, path in ((NAME, PATH), (NAME.upper(), PATH), (NAME.title(), PATH.upper()))
    }
    kept: Reads = web.app.extensions[READS]
    assert pages == {200}
    assert len(kept.sheets._values) == len(kept.outlines._values) == 3
    assert all(outline.total == ALIKE for outline, _ in kept.outlines._values.values())
    assert kept.sheets._kept / 3 * PAGES > MOST_RENDERED
    assert kept.outlines._kept / 3 * PAGES > MOST_OUTLINED
    assert COLLECTIONS[0] < LEFT * PAGES
    assert all(b"test_0" in zlib.decompress(sheet) for sheet, _ in kept.sheets._values.values())


def test_all_addresses_of_the_soak_are_different() -> None:
    assert len(set(spelled(NAME))) * len(set(spelled(PATH))) >= PAGES
