"""Copies of accounts at once, through the real web server: `python -m bench.web.copies [--copies 8]`.

Each person has 24 documents of 2,500 behaviours, and reads two copies.  Prints the size of a copy, the answers, how
long the slowest copy and the slowest of the small reads beside them took, and the memory of the server, as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

from service_harness.application import POLICY, SETTINGS, Web, resolve
from sqlalchemy import text

from app.domain.plans import Tier
from app.store.core.unit_of_work import UnitOfWork
from app.web import create_app
from app.web.core.wiring import WebWiring
from bench.accept.database import database
from bench.accept.rate import SECRET, serving
from bench.specview.pages import _cookie, _Server

PER_PERSON = 2
_DOCUMENTS = text("""
    WITH repository AS (
        INSERT INTO codebases (id, host, owner, name, created_at)
        SELECT gen_random_uuid(), 'github.com', 'acme', CAST(:user_id AS text), now() RETURNING id)
    INSERT INTO spec_documents (id, user_id, codebase_id, commit_sha, analysis_id, language, mode, generator, version,
                                status, attempt, started_at, completed_at, summary, units, draft)
    SELECT gen_random_uuid(), :user_id, id, repeat('a', 40), gen_random_uuid(), 'en', 'initial', 'x', 1, 'completed', 1,
           now(), now(), '{"behaviours": 2500}', 0, :user_id FROM repository, generate_series(1, 24)""")
_FEATURES = text("""
    INSERT INTO spec_features (document_id, draft, position, domain, feature, total, behaviours)
    SELECT d.id, d.draft, n, 'Shop', 'Feature ' || n, 25, (
           SELECT jsonb_agg(jsonb_build_object(
                      'sentence', 'Returns ' || md5(n || ' ' || m), 'status', 'active', 'line', m,
                      'framework', 'pytest', 'file', 'tests/test_shop_' || n || '.py', 'suites', '["TestShop"]',
                      'name', md5(n || '_' || m)))
             FROM generate_series(1, 25) m)
      FROM spec_documents d, generate_series(1, 100) n WHERE d.user_id = :user_id""")


def main() -> None:
    """Set up the accounts, then read their copies at once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--copies", type=int, default=8)
    copies = parser.parse_args().copies
    os.environ["READ_LIMIT_PER_MINUTE"] = "1000000000"
    with database() as (url, uow):
        web = Web(create_app(WebWiring(SETTINGS, uow, POLICY, resolve, SECRET)), uow)
        cookies = [_person(web, uow) for _ in range(copies // PER_PERSON)] * PER_PERSON
        with serving(url) as port:
            server = _Server(port, {"Cookie": cookies[0]})
            server.get("/account")  # imports and templates
            figures: dict[str, object] = {"MiB before": server.peak()}
            figures |= _read(f"http://127.0.0.1:{port}", cookies)
            figures["MiB after"] = server.peak()
    print(json.dumps(figures))


def _person(web: Web, uow: UnitOfWork) -> str:
    account, web.client = web.user(Tier.PRO), web.app.test_client()  # a browser of their own
    with uow.begin() as tx:
        tx.run(_DOCUMENTS, user_id=account.user_id)
        tx.run(_FEATURES, user_id=account.user_id)
    return _cookie(web, account)


def _read(url: str, cookies: list[str]) -> dict[str, object]:
    done, small = threading.Event(), [0.0]

    def copy(cookie: str) -> tuple[int, int, float]:
        began = time.monotonic()
        asked = urllib.request.Request(f"{url}/account/export.json", headers={"Cookie": cookie})
        try:
            with urllib.request.urlopen(asked) as answer:
                read = 0
                while piece := answer.read(65_536):
                    read += len(piece)
                return answer.status, read, time.monotonic() - began
        except urllib.error.HTTPError as refused:
            return refused.status or 0, 0, time.monotonic() - began

    def beside() -> None:
        while not done.wait(0.05):  # between two reads
            began = time.monotonic()
            with urllib.request.urlopen(f"{url}/healthz") as answer:
                answer.read()
            small.append(time.monotonic() - began)

    with ThreadPoolExecutor(len(cookies) + 1) as threads:
        threads.submit(beside)
        answers = list(threads.map(copy, cookies))
        done.set()
    return {
        "copies": len(answers), "status": sorted(status for status, _, _ in answers),
        "MiB of a copy": round(max(size for _, size, _ in answers) / 2**20, 1),
        "slowest copy s": round(max(took for _, _, took in answers), 1), "slowest healthz s": round(max(small), 2),
    }  # fmt: skip


if __name__ == "__main__":
    main()
